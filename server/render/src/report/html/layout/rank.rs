//! In which layer each box lies: longest paths over all connections, each pointing down in an order of the
//! boxes that lets little of what goes forward point up, makes few layers and keeps together what is
//! connected. Of few boxes all orders are tried; of more the best by weight and length; of many a good one.

use std::cmp::Reverse;

use super::geometry::Connection;

/// All orders of so many boxes are tried.
const TRIED: usize = 7;
/// More boxes are put in order greedily.
const EXACT: usize = 11;
/// Boxes in a layer at most.
const WIDEST: usize = 4;

/// Boxes by layer, from the top.
pub(super) fn layers(count: usize, connections: &[Connection]) -> Vec<Vec<usize>> {
    let connections: Vec<&Connection> = connections.iter().filter(|it| it.ends.0 != it.ends.1).collect();
    let rank = if count <= TRIED {
        tried_ranks(count, &connections)
    } else if count <= EXACT {
        best_ranks(count, &connections)
    } else {
        ranks(count, &connections)
    };
    let depth = depths(&rank, &connections);
    let mut layers: Vec<Vec<usize>> = Vec::new();
    for at in 0..=depth.iter().copied().max().unwrap_or(0) {
        let members: Vec<usize> = (0..count).filter(|&member| depth[member] == at).collect();
        layers.extend(members.chunks(WIDEST).map(<[usize]>::to_vec));
    }
    layers
}

/// The layer of each box, in an order of them.
fn depths(rank: &[usize], connections: &[&Connection]) -> Vec<usize> {
    let count = rank.len();
    let mut sorted: Vec<usize> = (0..count).collect();
    sorted.sort_by_key(|&member| rank[member]);
    let down = |it: &Connection| if rank[it.ends.0] < rank[it.ends.1] { it.ends } else { (it.ends.1, it.ends.0) };
    let mut depth = vec![0; count];
    for &member in &sorted {
        for (from, to) in connections.iter().map(|it| down(it)).filter(|it| it.0 == member) {
            depth[to] = depth[to].max(depth[from] + 1);
        }
    }
    // What has more below it than above it goes as far down as it can.
    for &member in sorted.iter().rev() {
        let below: Vec<usize> =
            connections.iter().map(|it| down(it)).filter(|it| it.0 == member).map(|it| depth[it.1]).collect();
        let above = connections.iter().filter(|it| down(it).1 == member).count();
        if let Some(&first) = below.iter().min()
            && below.len() > above
        {
            depth[member] = first - 1;
        }
    }
    depth
}

/// The order in which the least weight points up; of those the one with the fewest layers, and then the one
/// with the shortest lines.
fn tried_ranks(count: usize, connections: &[&Connection]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut best: Option<(u64, usize, usize, Vec<usize>)> = None;
    loop {
        let mut rank = vec![0; count];
        for (at, &member) in order.iter().enumerate() {
            rank[member] = at;
        }
        let up: u64 = connections
            .iter()
            .map(|it| u64::from(if rank[it.ends.0] < rank[it.ends.1] { it.up } else { it.down }))
            .sum();
        if best.as_ref().is_none_or(|best| up <= best.0) {
            let depth = depths(&rank, connections);
            let layers = depth.iter().copied().max().unwrap_or(0);
            let length = connections.iter().map(|it| depth[it.ends.0].abs_diff(depth[it.ends.1]) * it.lines).sum();
            if best.as_ref().is_none_or(|best| (up, layers, length) < (best.0, best.1, best.2)) {
                best = Some((up, layers, length, rank));
            }
        }
        if !next_order(&mut order) {
            return best.map_or_else(Vec::new, |best| best.3);
        }
    }
}

/// The next order, as a dictionary has them; `false` after the last.
fn next_order(order: &mut [usize]) -> bool {
    let Some(at) = order.windows(2).rposition(|pair| pair[0] < pair[1]) else { return false };
    let greater = order.iter().rposition(|it| *it > order[at]).unwrap_or(at);
    order.swap(at, greater);
    order[at + 1..].reverse();
    true
}

/// What points up if `first` stands above `second`.
fn rising(it: &Connection, first: usize, second: usize) -> u64 {
    match it.ends {
        ends if ends == (first, second) => it.up.into(),
        ends if ends == (second, first) => it.down.into(),
        _ => 0,
    }
}

/// The order in which the least weight points up, and of those the one with the shortest connections: a
/// path over all sets of boxes that may stand above the others.
fn best_ranks(count: usize, connections: &[&Connection]) -> Vec<usize> {
    let inside = |set: usize, member: usize| set >> member & 1 == 1;
    let mut best: Vec<(u64, usize)> = vec![(u64::MAX, 0); 1 << count];
    best[0].0 = 0;
    for set in 0..best.len() {
        for next in (0..count).filter(|&next| !inside(set, next)) {
            let with = set | 1 << next;
            let (mut up, mut cut) = (0, 0);
            for it in connections {
                let other = if it.ends.0 == next { it.ends.1 } else { it.ends.0 };
                if (it.ends.0 == next || it.ends.1 == next) && inside(set, other) {
                    up += rising(it, other, next);
                }
                if inside(with, it.ends.0) != inside(with, it.ends.1) {
                    cut += it.lines as u64;
                }
            }
            let cost = best[set].0.saturating_add(up * 100_000 + cut);
            if cost < best[with].0 {
                best[with] = (cost, next);
            }
        }
    }
    let mut rank = vec![0; count];
    let mut set = best.len() - 1;
    for place in (0..count).rev() {
        let last = best[set].1;
        rank[last] = place;
        set &= !(1 << last);
    }
    rank
}

/// An order in which little points up: what only gives goes first, what only takes last, and of the rest
/// what gives most beyond what it takes (Eades, Lin and Smyth).
fn ranks(count: usize, connections: &[&Connection]) -> Vec<usize> {
    let mut left: Vec<usize> = (0..count).collect();
    let (mut head, mut tail) = (Vec::new(), Vec::new());
    while !left.is_empty() {
        // What a box gives to those that are left, and takes from them.
        let flow = |member: usize| -> (u64, u64) {
            let mut flow = (0, 0);
            for it in connections {
                let other = match it.ends {
                    (from, to) if from == member => to,
                    (from, to) if to == member => from,
                    _ => continue,
                };
                if left.contains(&other) {
                    flow.0 += rising(it, other, member);
                    flow.1 += rising(it, member, other);
                }
            }
            flow
        };
        let flows: Vec<(u64, u64)> = left.iter().map(|&member| flow(member)).collect();
        let chosen = if let Some(at) = flows.iter().position(|it| it.1 == 0) {
            head.push(left[at]);
            at
        } else if let Some(at) = flows.iter().position(|it| it.0 == 0) {
            tail.push(left[at]);
            at
        } else {
            let gain = |at: usize| flows[at].0 as i64 - flows[at].1 as i64;
            let best = (0..left.len()).max_by_key(|&at| (gain(at), Reverse(at))).unwrap_or(0);
            head.push(left[best]);
            best
        };
        left.remove(chosen);
    }
    head.extend(tail.into_iter().rev());
    let mut rank = vec![0; count];
    for (at, member) in head.into_iter().enumerate() {
        rank[member] = at;
    }
    rank
}
