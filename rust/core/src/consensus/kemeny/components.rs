//! Strongly connected components of the majority graph: the parts that are solved separately.

use crate::consensus::majority::Majority;
use crate::error::Result;
use crate::interrupt::Interrupt;

/// The components among `items`, each before those that it beats. A tied pair is no edge.
///
/// Kosaraju's algorithm: depth first along the edges, then against them in reverse order of
/// completion. O(n²), which is the size of the graph.
pub(super) fn components(
    majority: &Majority,
    items: &[u32],
    interrupt: Interrupt<'_>,
) -> Result<Vec<Vec<u32>>> {
    let mut seen = vec![false; items.len()];
    let mut completed = Vec::with_capacity(items.len());
    // What is completed last comes first, so the first items are visited last.
    let backwards: Vec<u32> = items.iter().rev().copied().collect();
    for &root in &backwards {
        let beats = |a, b| majority.margin(a, b) > 0;
        visit(&backwards, &mut seen, root, &mut completed, beats, interrupt)?;
    }
    seen.fill(false);
    let mut components = Vec::new();
    for &root in completed.iter().rev() {
        let mut component = Vec::new();
        let loses = |a, b| majority.margin(b, a) > 0;
        visit(items, &mut seen, root, &mut component, loses, interrupt)?;
        if !component.is_empty() {
            components.push(component);
        }
    }
    Ok(components)
}

/// Appends all unseen items that can be reached from `root`, in order of completion.
fn visit(
    items: &[u32],
    seen: &mut [bool],
    root: u32,
    completed: &mut Vec<u32>,
    edge: impl Fn(u32, u32) -> bool,
    interrupt: Interrupt<'_>,
) -> Result<()> {
    if std::mem::replace(&mut seen[root as usize], true) {
        return Ok(());
    }
    // An explicit stack: recursion along a long chain would overflow the thread's.
    let mut path = vec![(root, 0)];
    while let Some((item, next)) = path.last_mut() {
        interrupt.check()?;
        let from = *item;
        match (*next..items.len()).find(|&k| !seen[items[k] as usize] && edge(from, items[k])) {
            Some(k) => {
                *next = k + 1;
                seen[items[k] as usize] = true;
                path.push((items[k], 0));
            }
            None => {
                completed.push(from);
                path.pop();
            }
        }
    }
    Ok(())
}
