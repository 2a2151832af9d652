//! Refinement (M14): margins between items near each other in an announced order.

mod asked;

use std::ops::Range;

use asked::{MOST_PAIRS, Round};

pub use asked::Window;
use rand_core::Rng;

use super::{Layout, Size, farthest, layout, segment, wrong_entries, wrong_samples};
use crate::consensus::kemeny::known::{Known, Pair};
use crate::consensus::kemeny::{self, EXACT_UPTO, KICKS};
use crate::consensus::{Consensus, tied};
use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Stage};
use crate::kendall::{self, distances_to};
use crate::message::mask;
use crate::rankings::{Rankings, Ties, invert};
use crate::rng::{Key, stream};

/// What clients send about a pair of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vote {
    /// Rankings with the first item before the second, less the reverse.
    Margins,
    /// The same, and in the first round the number of rankings too; if that round leaves pairs
    /// out, also the sum of the rankings' distances to the announced one.
    Counted,
    /// One bit: which item most of the client's rankings have first, ties by lot.
    Majority,
}

/// The public part of a refinement.
#[derive(Debug, Clone, PartialEq)]
pub struct Refine {
    size: Size,
    vote: Vote,
    /// What one client's margin is at most in size.
    a_client: u64,
    window: Window,
    /// Rankings announced so far, one after the other.
    announced: Vec<u32>,
    /// The round to run, of the ranking announced last.
    round: Round,
    layout: Layout,
}

impl Refine {
    /// Clients send a vote on every pair of items that is near, by `window`, in the order announced
    /// last, unless it was so in an order announced before: a pair is asked once.
    ///
    /// The rows of `announced` are the rankings announced so far, in turn.
    ///
    /// Of `partial` rankings clients encode the [`twins`](crate::partial::twins): a pair that
    /// one ties adds 0 to the margin.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless `window` is at least 1, `max_samples` is given for margins,
    /// and margins (of twins, if partial) need less than 32 bits.
    pub fn new(
        announced: Rankings<'_>,
        clients: usize,
        max_samples: Option<usize>,
        window: Window,
        vote: Vote,
        partial: bool,
    ) -> Result<Self> {
        let refused = |name, problem| Err(Error::Parameter { name, problem });
        let size = Size { n: announced.n(), clients, max_samples, partial }.check()?;
        if announced.is_empty() {
            return Err(Error::Empty);
        }
        if window == Window::Fixed(0) {
            return refused("window", "must be at least 1");
        }
        let a_client = match (vote, max_samples) {
            (Vote::Majority, _) => 1,
            (_, Some(samples)) => samples as u128,
            (_, None) => return refused("max_samples", "is needed for margins: it bounds them"),
        };
        let most = clients as u128 * a_client;
        if most * size.each() as u128 > i32::MAX as u128 {
            let problem = "is too large: times clients it must be below 2^31, 2^30 if partial";
            return refused("max_samples", problem);
        }
        if let Window::Fixed(window) = window
            && size.n as u64 * window.min(size.n - 1) as u64 > MOST_PAIRS
        {
            return refused("window", "makes the message too long");
        }
        let round = Round::new(announced, announced.len(), window);
        // Two's complement takes a bit more than the largest margin; counts of clients do not.
        let largest = if vote == Vote::Majority { most } else { 2 * most };
        let (distance, samples) = round.sums(vote, announced.len());
        let distances = most * size.each() as u128 * farthest(size.n);
        let segments = [
            segment("margin", round.pairs, largest, "max_samples")?,
            segment("distance", distance, distances, "max_samples")?,
            segment("samples", samples, most, "max_samples")?,
        ];
        let layout = layout(segments.into_iter().flatten().collect(), "window")?;
        let (a_client, announced) = (a_client as u64, announced.ranks().to_vec());
        Ok(Self { size, vote, a_client, window, announced, round, layout })
    }

    /// The shape of a message.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// A client's message, and how many of its majorities were tied: these are drawn from `key`.
    ///
    /// # Errors
    /// [`Error::Items`], [`Error::Empty`] or [`Error::TooManySamples`] for the wrong rankings,
    /// [`Error::Interrupted`] if `interrupt` says so.
    pub fn encode(
        &self,
        rankings: Rankings<'_>,
        key: Key,
        interrupt: Interrupt<'_>,
    ) -> Result<(Vec<u64>, usize)> {
        self.size.admit(rankings)?;
        if rankings.len() > i32::MAX as usize {
            return Err(Error::TooHeavy { total: rankings.len() as u64 });
        }
        let samples = rankings.len() / self.size.each();
        let margins = self.round.margins(rankings, interrupt)?;
        let drawn = match self.vote {
            Vote::Majority => margins.iter().filter(|&&margin| margin == 0).count(),
            Vote::Margins | Vote::Counted => 0,
        };
        // Twins have the same margins, twice.
        let each = self.size.each() as i64;
        let wrap = self.layout.segments().first().map_or(0, |segment| mask(segment.bits));
        let mut rng = stream(key, 0);
        let entry = |margin: i32| match self.vote {
            // In two's complement.
            Vote::Margins | Vote::Counted => (i64::from(margin) / each) as u64 & wrap,
            Vote::Majority if margin == 0 => u64::from(rng.next_u32() & 1),
            Vote::Majority => u64::from(margin > 0),
        };
        let mut message: Vec<u64> = margins.into_iter().map(entry).collect();
        let (distance, counted) = self.round.sums(self.vote, self.announced.len() / self.size.n);
        if distance > 0 {
            let each = distances_to(rankings, &self.round.ranks, interrupt.uncounted())?;
            message.push(each.iter().sum());
        }
        if counted > 0 {
            message.push(samples as u64);
        }
        Ok((message, drawn))
    }

    /// The refined consensus of the `survivors` whose messages, round by round, sum to
    /// `totals`; sums need not be reduced modulo the width.
    ///
    /// # Errors
    /// [`Error::Survivors`] or [`Error::Total`] if no clients can have sent this,
    /// [`Error::Interrupted`] if `interrupt` says so.
    pub fn decode(
        &self,
        totals: &[&[u64]],
        survivors: usize,
        ties: Ties,
        interrupt: Interrupt<'_>,
    ) -> Result<Consensus> {
        let Sums { pairs, samples, distance } = self.read(totals, survivors)?;
        let n = self.size.n;
        let known = Known::new(n, &pairs)?;
        let mut order: Vec<u32> = (0..n as u32).collect();
        interrupt.enter(Stage::Improving);
        known.refine(&mut order, interrupt)?;
        let mut found = Consensus { kept: true, ..Consensus::default() };
        if known.complete() {
            (order, found) = complete(&known, order, &pairs, samples, ties, interrupt)?;
        } else if let Some(total) = samples {
            found.exact = Some(known.proves(&order, total, interrupt)?);
            found.distance = distance.and_then(|first| self.distance(first, &pairs, &order));
            found.bound = found.distance.filter(|_| found.exact == Some(true));
        } else {
            found.exact = Some(false);
        }
        if self.vote == Vote::Majority {
            // What is least here is no distance to the rankings.
            found.exact = None;
        }
        let neighbours = tied::neighbours(&order, |a, b| known.margin(a, b) == Some(0));
        found.ties = tied::pairs_in(&neighbours);
        found.tied = found.tied.or(Some(neighbours));
        let items = &self.round.order;
        let by_item: Vec<u32> = order.iter().map(|&place| items[place as usize]).collect();
        found.ranks = invert(&by_item);
        Ok(found)
    }

    /// The runs of places of `ranks`, a consensus that these `totals` gave, whose items another
    /// order announced first might end in another order. The known margins settle all other
    /// places, if the survivors hold at most `most` rankings: see `Known::open_runs`.
    ///
    /// # Errors
    /// As [`decode`](Self::decode), and [`Error::Items`] unless `ranks` ranks the same items.
    pub fn open_runs(
        &self,
        totals: &[&[u64]],
        survivors: usize,
        ranks: Rankings<'_>,
        most: u64,
        interrupt: Interrupt<'_>,
    ) -> Result<Vec<Range<usize>>> {
        if ranks.ranks().len() != self.size.n {
            return Err(Error::Items { a: ranks.ranks().len(), b: self.size.n });
        }
        let Sums { pairs, samples, .. } = self.read(totals, survivors)?;
        let known = Known::new(self.size.n, &pairs)?;
        let place = |&item: &u32| self.round.ranks[item as usize];
        let order: Vec<u32> = invert(ranks.ranks()).iter().map(place).collect();
        // A client's majorities need not go together as those of one ranking do: no chains.
        let most = samples.unwrap_or(most.saturating_mul(self.size.each() as u64));
        known.open_runs(&order, (self.vote != Vote::Majority).then_some(most), interrupt)
    }

    /// Sum of the rankings' distances to an order of places, from the sum of those to the ranking
    /// announced first; none if the two differ in a pair that is not known.
    fn distance(&self, first: u64, pairs: &[Pair], order: &[u32]) -> Option<u64> {
        let (place, first_ranks) = (invert(order), self.first_ranks());
        let mut unknown = kendall::distance(&place, &first_ranks).ok()?;
        let mut distance = i128::from(first);
        for (margin, a, b) in pairs.iter().map(|pair| in_first(pair, &first_ranks)) {
            if place[a as usize] > place[b as usize] {
                distance += i128::from(margin);
                unknown -= 1;
            }
        }
        u64::try_from(distance).ok().filter(|_| unknown == 0)
    }

    /// Positions of places of the last order in the ranking announced first.
    fn first_ranks(&self) -> Vec<u32> {
        self.round.order.iter().map(|&item| self.announced[item as usize]).collect()
    }

    /// What was sent in all rounds.
    fn read(&self, totals: &[&[u64]], survivors: usize) -> Result<Sums> {
        if !(1..=self.size.clients).contains(&survivors) {
            return Err(Error::Survivors { survivors, clients: self.size.clients });
        }
        let announced = Rankings::trusted(&self.announced, self.size.n);
        if totals.len() != announced.len() {
            let (got, want) = (totals.len(), announced.len());
            let problem =
                format!("it takes one total for each announced order, so {want}, not {got}");
            return Err(Error::Total { problem });
        }
        let mut sums = Sums { pairs: Vec::new(), samples: None, distance: None };
        for (count, &total) in (1..).zip(totals) {
            let round = Round::new(announced, count, self.window);
            let (distance, samples) = round.sums(self.vote, count);
            let entries = round.pairs + distance + samples;
            if total.len() != entries {
                return Err(wrong_entries(total.len(), entries));
            }
            let (margins, rest) = total.split_at(round.pairs);
            sums.distance = sums.distance.or(rest.first().copied().filter(|_| distance > 0));
            sums.samples = sums.samples.or(rest.last().copied());
            self.read_margins(&round, margins, survivors, &mut sums.pairs)?;
        }
        self.check(&sums.pairs, sums.samples, survivors)?;
        if self.size.partial && self.vote != Vote::Majority {
            // From here on, of the twins: these are complete rankings, as a proof needs. The
            // distance is theirs already.
            sums.pairs.iter_mut().for_each(|pair| pair.2 *= 2);
            sums.samples = sums.samples.map(|samples| 2 * samples);
        }
        self.check_distance(&sums)?;
        Ok(sums)
    }

    /// Checks that the distance to the ranking announced first lies where the margins allow.
    fn check_distance(&self, sums: &Sums) -> Result<()> {
        let (Some(samples), Some(distance)) = (sums.samples, sums.distance) else { return Ok(()) };
        let samples = i128::from(samples);
        let first_ranks = self.first_ranks();
        let against = |pair| (samples - i128::from(in_first(pair, &first_ranks).0)) / 2;
        let least: i128 = sums.pairs.iter().map(against).sum();
        let unknown = farthest(self.size.n) as i128 - sums.pairs.len() as i128;
        if (least..=least + unknown * samples).contains(&i128::from(distance)) {
            return Ok(());
        }
        let problem = "no rankings have both these margins and this sum of distances";
        Err(Error::Total { problem: problem.to_owned() })
    }

    /// Appends the margins of one round.
    fn read_margins(
        &self,
        round: &Round,
        sums: &[u64],
        survivors: usize,
        pairs: &mut Vec<Pair>,
    ) -> Result<()> {
        let most = survivors as u64 * self.a_client;
        let place = |i: usize| self.round.ranks[round.order[i] as usize];
        for ((i, j), &sum) in round.asked().zip(sums) {
            let margin = self.margin(sum, survivors).filter(|m| m.unsigned_abs() <= most);
            let margin = margin.ok_or_else(|| {
                let doubtful = match self.vote {
                    Vote::Majority => "the number of survivors",
                    Vote::Margins | Vote::Counted => "max_samples",
                };
                let margins = format!("the margins exceed what {survivors} clients can send");
                Error::Total { problem: format!("{margins}: is {doubtful} right?") }
            })?;
            pairs.push((place(i), place(j), margin as i32));
        }
        Ok(())
    }

    /// Checks number and parity of margins that are in range; not whether they go together.
    fn check(&self, pairs: &[Pair], samples: Option<u64>, survivors: usize) -> Result<()> {
        let refused = |problem: &str| Err(Error::Total { problem: problem.to_owned() });
        let most = survivors as u64 * self.a_client;
        if let Some(samples) = samples.filter(|s| !(survivors as u64..=most).contains(s)) {
            return Err(wrong_samples(samples, survivors, self.a_client));
        }
        let largest = pairs.iter().map(|pair| pair.2.unsigned_abs()).max().unwrap_or(0);
        if samples.is_some_and(|samples| u64::from(largest) > samples) {
            return refused("a margin is larger than the number of rankings");
        }
        // Every complete ranking adds 1 or −1 to a margin.
        let parity = samples.map_or(largest, |samples| samples as u32) & 1;
        let odd_one = pairs.iter().any(|pair| pair.2.unsigned_abs() & 1 != parity);
        if self.vote != Vote::Majority && !self.size.partial && odd_one {
            return refused("margins of the same rankings are all even or all odd");
        }
        Ok(())
    }

    /// The margin in a sum of entries; none if so many clients cannot have sent it.
    fn margin(&self, sum: u64, survivors: usize) -> Option<i64> {
        if self.vote == Vote::Majority {
            return (sum <= survivors as u64).then(|| 2 * sum as i64 - survivors as i64);
        }
        // As in the layout of the first round: wider than any margin by the sign.
        let bits = 65 - (self.size.clients as u64 * self.a_client).leading_zeros();
        // A sum that was not reduced is below one modulus a client.
        let in_range = u128::from(sum) < (survivors as u128) << bits;
        in_range.then_some((sum << (64 - bits)) as i64 >> (64 - bits))
    }
}

/// What the messages of all rounds sum to.
struct Sums {
    /// Known pairs, by places in the last order, with their margins.
    pairs: Vec<Pair>,
    /// Number of complete rankings.
    samples: Option<u64>,
    /// Sum of their distances to the ranking announced first.
    distance: Option<u64>,
}

/// The margin of a pair as the ranking announced first has it, and its places in that order.
fn in_first(&(a, b, margin): &Pair, first_ranks: &[u32]) -> (i32, u32, u32) {
    if first_ranks[a as usize] < first_ranks[b as usize] { (margin, a, b) } else { (-margin, b, a) }
}

/// The best order when all pairs are known: exact where it can be, never worse than `refined`.
fn complete(
    known: &Known,
    refined: Vec<u32>,
    pairs: &[Pair],
    samples: Option<u64>,
    ties: Ties,
    interrupt: Interrupt<'_>,
) -> Result<(Vec<u32>, Consensus)> {
    // Without it, the least that it can be: distance and bound are then off by the same.
    let least = pairs.iter().map(|pair| pair.2.unsigned_abs()).max().unwrap_or(0);
    let total = samples.map_or(least, |samples| samples as u32);
    let items: Vec<u32> = (0..refined.len() as u32).collect();
    let Some(majority) = known.majority(&items, total)? else {
        return Ok((refined, Consensus { kept: true, ..Consensus::default() }));
    };
    let key = match ties {
        Ties::Random(key) => key,
        Ties::Index | Ties::Refuse => [0; 32],
    };
    let (solved, certain) =
        kemeny::by_majority(&majority, EXACT_UPTO, KICKS, ties, key, interrupt)?;
    let distance = majority.distance(&refined);
    let better = solved.distance.is_some_and(|solved| solved < distance);
    let solved_order = invert(&solved.ranks);
    // Where the search might have found something else that is better than the refined order.
    let whole = (0, majority.n() as u32);
    let same = better || solved_order == refined;
    let random = solved.searched.filter(|_| matches!(ties, Ties::Random(_)));
    let searched = random.map(|places| if same { places } else { whole });
    let order = if better { solved_order } else { refined };
    let distance = majority.distance(&order);
    let found = Consensus {
        exact: Some(solved.bound == Some(distance)),
        distance: samples.and(Some(distance)),
        bound: samples.and(solved.bound),
        kept: !better,
        tied: Some(certain.tied(&majority, &order, interrupt)?),
        searched,
        ..Consensus::default()
    };
    Ok((order, found))
}
