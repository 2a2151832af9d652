//! What can be wrong with the input.

/// Result of a core function.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an input was refused; each message names the value at fault.
///
/// A message about a row starts with `row {row}: `, so that a caller can name the place otherwise.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A row uses a position twice, or one outside `0..n`.
    #[error("row {row}: not a ranking of {n} items: position {rank} is {}", fault(*rank, *n))]
    NotARanking {
        /// Row of the matrix, from 0.
        row: usize,
        /// Number of items ranked.
        n: usize,
        /// The position at fault.
        rank: i64,
    },

    /// A Lehmer digit is above the number of earlier items.
    #[error("row {row}: not a Lehmer code: digit {digit} of item {item} must be in 0..={item}")]
    NotACode {
        /// Row of the matrix, from 0.
        row: usize,
        /// Item whose digit it is.
        item: usize,
        /// The digit at fault.
        digit: i64,
    },

    /// Bytes that are not the Golomb code of a digit.
    #[error("row {row}: the digit of item {item} cannot be read: {problem}")]
    NotGolomb {
        /// Row of the matrix, from 0.
        row: usize,
        /// Item whose digit it is.
        item: usize,
        /// What is wrong.
        problem: &'static str,
    },

    /// A score that cannot be ordered.
    #[error("row {row}: the score of item {item} is NaN")]
    NotAScore {
        /// Row of the matrix, from 0.
        row: usize,
        /// Item whose score it is.
        item: usize,
    },

    /// A partial ranking that ranks no item.
    #[error("row {row}: no item is ranked")]
    Blank {
        /// Row of the matrix, from 0.
        row: usize,
    },

    /// Two items of one row share a score, and ties were to be refused.
    #[error("row {row}: items {a} and {b} share the score {score}")]
    Tied {
        /// Row of the matrix, from 0.
        row: usize,
        /// One item.
        a: usize,
        /// The other.
        b: usize,
        /// What they share.
        score: f64,
    },

    /// A flat array does not hold whole rows of `n`.
    #[error("{len} entries cannot be split into rows of {n} items")]
    Ragged {
        /// Entries given.
        len: usize,
        /// Items per row.
        n: usize,
    },

    /// Two inputs rank different numbers of items.
    #[error("rankings of {a} items cannot be compared with rankings of {b}")]
    Items {
        /// Items in the first.
        a: usize,
        /// Items in the second.
        b: usize,
    },

    /// No ranking, or only rows of weight 0.
    #[error("no rankings: at least one row with a weight above 0 is needed")]
    Empty,

    /// Not one weight per row.
    #[error("{weights} weights were given for {rows} rankings")]
    Weights {
        /// Weights given.
        weights: usize,
        /// Rankings given.
        rows: usize,
    },

    /// More rankings than 32-bit counts hold.
    #[error("the weights sum to {total}; at most 2147483647 rankings can be counted")]
    TooHeavy {
        /// Sum of the weights.
        total: u64,
    },

    /// An invalid parameter.
    #[error("{name} {problem}")]
    Parameter {
        /// Its name, as in the Python API.
        name: &'static str,
        /// What is wrong with it.
        problem: &'static str,
    },

    /// A sum that would need more than 64 bits.
    #[error(
        "{name} is too large: sums of the messages would need {bits} bits; at most 64 are possible"
    )]
    Width {
        /// The parameter to lower.
        name: &'static str,
        /// Bits needed.
        bits: u32,
    },

    /// A client with more rankings than the scheme allows.
    #[error("the client has {samples} rankings; the scheme's max_samples is {most}")]
    TooManySamples {
        /// Rankings that the client holds.
        samples: usize,
        /// Most that it may.
        most: usize,
    },

    /// An invalid number of survivors.
    #[error("survivors must be 1 to {clients}, not {survivors}")]
    Survivors {
        /// Survivors claimed.
        survivors: usize,
        /// Clients of the scheme.
        clients: usize,
    },

    /// A sum that no clients can have sent.
    #[error("this total is impossible: {problem}")]
    Total {
        /// Why.
        problem: String,
    },

    /// The result does not fit into memory.
    #[error("{entries} numbers of {bytes} bytes each do not fit into memory")]
    Memory {
        /// Numbers asked for.
        entries: u128,
        /// Bytes of each.
        bytes: usize,
    },

    /// The call was stopped by [`interrupt::all`](crate::interrupt::all).
    #[error("interrupted")]
    Interrupted,

    /// A dispersion outside `[0, 1]`.
    #[error("phi must be in [0, 1], not {phi}")]
    Phi {
        /// The value at fault.
        phi: f64,
    },
}

impl Error {
    /// The same error, seen in row `row` of a matrix.
    #[must_use]
    pub fn at(mut self, at: usize) -> Self {
        if let Self::NotARanking { row, .. }
        | Self::NotACode { row, .. }
        | Self::NotAScore { row, .. }
        | Self::Tied { row, .. } = &mut self
        {
            *row = at;
        }
        self
    }
}

/// `rows × columns` zeros, or an error where plain `vec!` would end the process.
pub(crate) fn zeros<T: Copy + Default>(rows: usize, columns: usize) -> Result<Vec<T>> {
    let bytes = size_of::<T>();
    let refused = || Error::Memory { entries: rows as u128 * columns as u128, bytes };
    let len = rows.checked_mul(columns).ok_or_else(refused)?;
    // Only asked for, then made by `vec!`, whose pages the system zeroes when they are touched.
    Vec::<T>::new().try_reserve_exact(len).map_err(|_| refused())?;
    Ok(vec![T::default(); len])
}

fn fault(rank: i64, n: usize) -> &'static str {
    if usize::try_from(rank).is_ok_and(|rank| rank < n) { "repeated" } else { "out of range" }
}
