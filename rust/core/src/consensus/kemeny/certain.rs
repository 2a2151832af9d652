//! Which items come in the same order in every best order.

use crate::consensus::majority::Majority;
use crate::consensus::tied::{self, Run};
use crate::error::Result;
use crate::interrupt::Interrupt;

/// What is certain about the order of items in one component; between two components the margins
/// tell it.
///
/// An order is best if it has the items of every component in a best order, and no item before one
/// of another component that beats it.
#[derive(Debug, Clone)]
pub(crate) struct Certain {
    components: u32,
    /// The component of each item, its number in it, and the numbers, as bits, of those that come
    /// before it in some best order of the component.
    items: Vec<(u32, u32, u32)>,
}

impl Certain {
    /// Of `n` items whose components are yet to come.
    pub(super) fn new(n: usize) -> Self {
        Self { components: 0, items: vec![(0, 0, 0); n] }
    }

    /// Adds a component, with the items that may come before each, as bits.
    pub(super) fn add(&mut self, component: &[u32], before: &[u32]) {
        for (number, (&item, &before)) in (0..).zip(component.iter().zip(before)) {
            self.items[item as usize] = (self.components, number, before);
        }
        self.components += 1;
    }

    /// The runs of places whose items not every best order has in the order given.
    ///
    /// # Errors
    /// [`Error::Interrupted`](crate::Error::Interrupted) if `interrupt` says so.
    pub(crate) fn tied(
        &self,
        majority: &Majority,
        order: &[u32],
        interrupt: Interrupt<'_>,
    ) -> Result<Vec<Run>> {
        let first = |a: u32, b: u32| {
            let (component, _, before) = self.items[a as usize];
            let (other, number, _) = self.items[b as usize];
            // A component of more items than there are bits was not solved: its bits are 0.
            match component == other {
                true => before.checked_shr(number).unwrap_or(0) & 1 == 0,
                false => majority.margin(a, b) > 0,
            }
        };
        tied::uncertain(order, first, interrupt)
    }
}
