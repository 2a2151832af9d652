//! Long calls count their work: what is done reaches what was announced.

use fedrank_core::consensus::{Method, footrule, kemeny, lehmer, pick, pivot};
use fedrank_core::interrupt::{Stage, Work};
use fedrank_core::mallows::Phi;
use fedrank_core::scheme::{Borda, Scheme, Size};
use fedrank_core::simulate::{Setting, distances};
use fedrank_core::{Interrupt, Profile, Rankings, Result, Ties, kendall, pairwise};

const KEY: [u8; 32] = [1; 32];
const TIES: Ties = Ties::Random(KEY);

fn uniform(rows: usize, n: usize) -> Vec<u32> {
    let center: Vec<u32> = (0..n as u32).collect();
    let model = Phi::new(1.0).expect("in range");
    model.sample(Rankings::trusted(&center, n), rows, KEY, Interrupt::begin()).expect("it fits")
}

/// Runs a call while another thread reads its counts, which must never decrease.
fn counts<T: Send>(name: &str, last: Stage, call: impl Fn(Interrupt<'_>) -> Result<T> + Sync) {
    let work = Work::default();
    std::thread::scope(|scope| {
        let caller = scope.spawn(|| call(Interrupt::counted(&work)).map(drop));
        let mut seen = work.state();
        while !caller.is_finished() {
            let now = work.state();
            assert!(now.stage != seen.stage || now.done >= seen.done, "{name}: {seen:?}, {now:?}");
            seen = now;
        }
        caller.join().expect("no panic").expect("no error");
    });
    let state = work.state();
    assert_eq!((state.stage, state.done), (last, state.total), "{name}");
    assert_eq!(state.total == 0, last == Stage::Matching, "{name}");
}

#[test]
fn every_long_call_does_what_it_announced() {
    for n in [3, 40, 150] {
        let ranks = uniform(21, n);
        let rankings = Rankings::trusted(&ranks, n);
        let weights: Vec<u32> = (0..21).collect(); // one of them zero
        for weights in [None, Some(&weights[..])] {
            let profile = &Profile::new(rankings, weights).expect("not empty");
            counts("pairwise", Stage::Main, |token| pairwise::counts(profile, token));
            counts("pick", Stage::Main, |token| pick::consensus(profile, TIES, token));
            counts("pivot", Stage::Main, |token| pivot::consensus(profile, 9, TIES, KEY, token));
            counts("lehmer", Stage::Main, |token| lehmer::consensus(profile, TIES, token));
            let kemeny = |token: Interrupt<'_>| kemeny::consensus(profile, 20, 7, TIES, KEY, token);
            counts("kemeny", Stage::Search, kemeny);
            let stage = if n > 64 { Stage::Matching } else { Stage::Main };
            counts("footrule", stage, |token| footrule::consensus(profile, TIES, token));
        }
        counts("kendall", Stage::Main, |token| kendall::distances(rankings, rankings, token));
        let one = Rankings::trusted(&ranks[..n], n);
        counts("to one", Stage::Main, |token| kendall::distances(rankings, one, token));
        let footrule =
            |token: Interrupt<'_>| fedrank_core::footrule::distances(rankings, rankings, token);
        counts("footrule distances", Stage::Main, footrule);
        let encode = |token: Interrupt<'_>| fedrank_core::lehmer::encode_rows(rankings, token);
        counts("encode", Stage::Main, encode);
        let codes = fedrank_core::lehmer::encode_rows(rankings, Interrupt::begin());
        let codes = codes.expect("rankings");
        let decode = |token: Interrupt<'_>| fedrank_core::lehmer::decode_rows(&codes, n, token);
        counts("decode", Stage::Main, decode);
        for phi in [0.3, 1.0] {
            let phi = Phi::new(phi).expect("in range");
            counts("sample", Stage::Main, |token| phi.sample(one, 100, KEY, token));
        }
    }
}

#[test]
fn the_work_of_trials_is_counted_once() {
    let size = Size { n: 8, clients: 3, max_samples: Some(2), partial: false };
    let scheme: Scheme = Borda::sums(size).expect("it fits").into();
    let phi = Phi::new(0.5).expect("in range");
    let setting = Setting { phi, n: 8, center: None, clients: 3, samples: 2, trials: 100 };
    let methods = [Method::Borda, Method::Kemeny { exact_upto: 20, kicks: 5 }];
    let work = Work::default();
    let token = Interrupt::counted(&work);
    distances(setting, &[&scheme], &methods, KEY, token).expect("a valid setting");
    let state = work.state();
    assert_eq!((state.stage, state.done, state.total), (Stage::Main, 300, 300));
}

#[test]
fn small_exact_components_are_counted_by_their_subsets() {
    // Three cycles: a > b > c > a, each pair by two of three rankings.
    let ranks = [0, 1, 2, 2, 0, 1, 1, 2, 0];
    let profile = Profile::new(Rankings::trusted(&ranks, 3), None).expect("not empty");
    let work = Work::default();
    let found = kemeny::consensus(&profile, 20, 0, TIES, KEY, Interrupt::counted(&work));
    assert_eq!(found.expect("no error").exact, Some(true));
    assert_eq!(work.state().total, 3 * 8);
}
