//! Thin Python bindings: view, detach, convert. They compute nothing.
//!
//! One file per module of the core. Ranks must have been validated
//! (`fedrank.rankings.as_rankings` does); signatures are in `python/fedrank/_core.pyi`,
//! documentation in the functions that call these.
#![allow(missing_docs, clippy::needless_pass_by_value)]

mod array;
mod consensus;
mod envelope;
mod error;
mod footrule;
mod golomb;
mod identity;
mod interrupt;
mod kendall;
mod lehmer;
mod mallows;
mod message;
mod pairwise;
mod partial;
mod rankings;
mod scheme;
mod secagg;
mod simulate;
mod superposition;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _core {
    use fedrank_core::{consensus::kemeny, secagg};

    #[pymodule_export]
    use crate::consensus::{Consensus, aggregate};
    #[pymodule_export]
    use crate::envelope::{EnvelopeHeader, envelope_header, envelope_open, envelope_seal};
    #[pymodule_export]
    use crate::footrule::footrule_distance;
    #[pymodule_export]
    use crate::golomb::{
        golomb_decode, golomb_encode, golomb_entropy_bits, golomb_expected_bits, golomb_fit,
        golomb_fit_items, golomb_parameter,
    };
    #[pymodule_export]
    use crate::identity::{Identity, PublicIdentity, Roster};
    #[pymodule_export]
    use crate::interrupt::{interrupt_all, listen};
    #[pymodule_export]
    use crate::kendall::{KendallTotal, kendall_distance, kendall_total};
    #[pymodule_export]
    use crate::lehmer::{lehmer_decode, lehmer_encode};
    #[pymodule_export]
    use crate::mallows::{
        mallows_expected_distance, mallows_expected_ranks, mallows_log_partition, mallows_log_prob,
        mallows_phi, mallows_sample,
    };
    #[pymodule_export]
    use crate::message::Segment;
    #[pymodule_export]
    use crate::pairwise::pairwise_counts;
    #[pymodule_export]
    use crate::partial::{levels, twins};
    #[pymodule_export]
    use crate::rankings::{Fault, find_fault, from_scores, invert};
    #[pymodule_export]
    use crate::scheme::{Fit, Scheme, decay, paper_low_bits};
    #[pymodule_export]
    use crate::secagg::{
        MessageSizes, SecaggBegin, SecaggClient, SecaggServer, default_threshold, message_sizes,
        round_digest, sender_of, survivors_of,
    };
    #[pymodule_export]
    use crate::simulate::simulate;
    #[pymodule_export]
    use crate::superposition::{superposition_receive, superposition_transmit};

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    const KEMENY_EXACT_UPTO: usize = kemeny::EXACT_UPTO;

    #[pymodule_export]
    const KEMENY_EXACT_MOST: usize = kemeny::EXACT_MOST;

    #[pymodule_export]
    const KEMENY_KICKS: usize = kemeny::KICKS;

    #[pymodule_export]
    const MIN_SURVIVORS: usize = secagg::MIN_SURVIVORS;

    /// A tuple, so that Python cannot change it.
    #[pymodule_export]
    const STEPS: (&str, &str, &str, &str) = {
        let [first, second, third, fourth] = secagg::STEPS;
        (first, second, third, fourth)
    };

    /// A tuple, so that Python cannot change it.
    #[pymodule_export]
    const SIGNED_STEPS: (&str, &str, &str, &str, &str) = {
        let [first, second, third, fourth, fifth] = secagg::SIGNED_STEPS;
        (first, second, third, fourth, fifth)
    };

    #[pymodule_export]
    const COORDINATOR: u16 = secagg::envelope::COORDINATOR;

    #[pymodule_export]
    const ENVELOPE_OVERHEAD: usize = secagg::envelope::OVERHEAD;
}
