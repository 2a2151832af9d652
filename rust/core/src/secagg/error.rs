//! What secure aggregation refuses, and whom it names. No error carries a secret or an input.

use crate::interrupt::Interrupt;

/// Result of secure aggregation.
pub type Result<T> = std::result::Result<T, Error>;

/// Who sent a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Party {
    /// The server.
    Server,
    /// The client of this roster index.
    Client(usize),
    /// A sender that the caller does not know yet.
    Unknown,
}

impl std::fmt::Display for Party {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Server => f.write_str("the server"),
            Self::Client(id) => write!(f, "client {id}"),
            Self::Unknown => f.write_str("an unknown sender"),
        }
    }
}

/// Why a call was refused. A refused call changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A roster outside 2 to 65,535 clients.
    #[error("the roster has {clients} clients; secure aggregation takes 2 to 65535")]
    Clients {
        /// Size of the roster.
        clients: usize,
    },
    /// A threshold outside (L/2, L].
    #[error(
        "the threshold must be more than half of the {clients} clients and at most all, not {threshold}"
    )]
    Threshold {
        /// The threshold asked for.
        threshold: usize,
        /// Size of the roster.
        clients: usize,
    },
    /// An id outside the roster.
    #[error("client {client} is not on the roster, which has clients 0 to {}", clients.saturating_sub(1))]
    Unknown {
        /// The id.
        client: usize,
        /// Size of the roster.
        clients: usize,
    },
    /// An input that does not fit the study's layout.
    #[error(transparent)]
    Input(#[from] crate::message::Error),
    /// Bytes that are not a message of this protocol.
    #[error("a message from {from} is malformed: {what}")]
    Malformed {
        /// Its sender.
        from: Party,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A message of another version of the protocol.
    #[error(
        "a message from {from} is of version {theirs} of the protocol, and this program speaks \
         version {ours}: install the same version of fedrank on all machines"
    )]
    Version {
        /// Its sender.
        from: Party,
        /// Version of the message.
        theirs: u8,
        /// Version of this program.
        ours: u8,
    },
    /// A message of another study, session, sender or receiver.
    #[error("a message from {from} belongs to another study, session or client")]
    Foreign {
        /// Its sender.
        from: Party,
    },
    /// A second, different message for a step already done.
    #[error("{from} sent a second, different message for the same step")]
    Conflict {
        /// Its sender.
        from: Party,
    },
    /// A second, different input in one session.
    #[error(
        "a different input was masked before in this session; start a new session to send another"
    )]
    SecondInput,
    /// A call or message that comes before its step, or from a client that left earlier.
    #[error("a message from {from} came before its step, or its sender missed an earlier one")]
    Order {
        /// Its sender.
        from: Party,
    },
    /// A message for a step already closed; it is discarded.
    #[error("a message from {from} came after its step was closed and was discarded")]
    Late {
        /// Its sender.
        from: Party,
    },
    /// A public key that is low-order, not canonical, repeated, or not the one that was sent.
    #[error(
        "the public key of client {client}, sent by {from}, is weak, repeated or not the one announced"
    )]
    Key {
        /// Who sent the key.
        from: Party,
        /// Whose key it is said to be.
        client: usize,
    },
    /// A list of clients that is unsorted, repeats one, holds a stranger, or omits the reader.
    #[error("the server sent a wrong list of clients: {what}")]
    List {
        /// What is wrong with it.
        what: &'static str,
    },
    /// Fewer than the threshold.
    #[error("only {got} {what}; the threshold is {need}")]
    TooFew {
        /// What there is too little of.
        what: &'static str,
        /// How many there are.
        got: usize,
        /// The threshold.
        need: usize,
    },
    /// Fewer good shares of a client's secret than the threshold.
    #[error(
        "only {got} good shares of a secret of client {client} arrived; the threshold is {need}"
    )]
    Shares {
        /// Whose secret it is.
        client: usize,
        /// How many there are.
        got: usize,
        /// The threshold.
        need: usize,
    },
    /// A client dealt shares that do not rebuild the secret it announced.
    #[error("client {client} sent shares from which its secret cannot be rebuilt")]
    Dealer {
        /// The dealer.
        client: usize,
    },
    /// A signature that is not of this client, session and content.
    #[error("the signature of client {client}, sent by {from}, is wrong")]
    Signature {
        /// Who sent the signature.
        from: Party,
        /// Whose signature it is said to be.
        client: usize,
    },
    /// Identities that are not one per client of the roster.
    #[error("the roster has {clients} clients, and {got} identities are given")]
    Identities {
        /// Number of identities.
        got: usize,
        /// Size of the roster.
        clients: usize,
    },
    /// Two clients with a key in common.
    #[error("the identity of client {client} has a key that occurs on the roster before")]
    SharedKey {
        /// The second of the two.
        client: usize,
    },
    /// An identity to sign with that is missing, not asked for, or another client's.
    #[error("this client cannot sign: {what}")]
    Signer {
        /// What is wrong.
        what: &'static str,
    },
    /// A line that is not an identity, or one with keys that must not be used.
    #[error("this line cannot be used as an identity: {what}")]
    Identity {
        /// What is wrong with it.
        what: &'static str,
    },
    /// An envelope that cannot be opened, or a header that none can have.
    #[error("this envelope is refused: {what}")]
    Envelope {
        /// What is wrong with it.
        what: &'static str,
    },
    /// The call was stopped by [`interrupt::all`](crate::interrupt::all).
    #[error("interrupted")]
    Interrupted,
    /// A state blob that is damaged or of another study or client.
    #[error("the saved state cannot be used: {what}")]
    State {
        /// What is wrong with it.
        what: &'static str,
    },
}

/// Every code of a fault: those of [`Error::code`] except `interrupted`, which is no client's
/// fault, and `share` for a wrong share.
///
/// A saved server names a code by its place here, so new ones go to the end.
pub(super) const CODES: [&str; 16] = [
    "parameters",
    "unknown",
    "input",
    "conflict",
    "malformed",
    "foreign",
    "order",
    "late",
    "key",
    "list",
    "few",
    "dealer",
    "state",
    "share",
    "signature",
    "version",
];

impl Error {
    /// A fixed word for the kind of error: all that need leave a machine.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Clients { .. }
            | Self::Threshold { .. }
            | Self::Identities { .. }
            | Self::SharedKey { .. } => "parameters",
            Self::Unknown { .. } => "unknown",
            Self::Input(_) => "input",
            Self::SecondInput => "conflict",
            Self::Malformed { .. } => "malformed",
            Self::Version { .. } => "version",
            Self::Foreign { .. } => "foreign",
            Self::Conflict { .. } => "conflict",
            Self::Order { .. } => "order",
            Self::Late { .. } => "late",
            Self::Key { .. } => "key",
            Self::List { .. } => "list",
            Self::TooFew { .. } | Self::Shares { .. } => "few",
            Self::Dealer { .. } => "dealer",
            Self::State { .. } => "state",
            Self::Identity { .. } => "identity",
            Self::Envelope { .. } => "envelope",
            Self::Signature { .. } => "signature",
            Self::Signer { .. } => "signer",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Whether a call may go on; [`Error::Interrupted`] if not.
pub(super) fn check(interrupt: Interrupt<'_>) -> Result<()> {
    interrupt.check().map_err(|_| Error::Interrupted)
}
