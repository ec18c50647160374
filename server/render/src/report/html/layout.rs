//! Where the boxes and wires of the dependency graph go: layers from top to bottom, wires at right
//! angles between them.
//!
//! Layers are longest paths over the forward wires, after a choice of those that close a cycle: as few as
//! can be, and what is connected close together, exact for as many boxes as a kernel has partitions.
//! Each wire has a track between two layers, which it shares only with wires far from it, and its label
//! lies there: so labels never meet each other or a box, whatever the graph. Wires that pass a layer go
//! round it, forward ones on the left, all others on the right. Not sought: the least number of
//! crossings.

use std::cmp::Reverse;

/// More boxes are put in order greedily.
const EXACT: usize = 11;
/// Boxes in a row at most.
const WIDEST: usize = 4;
/// Height of a box.
pub(super) const BOX: i32 = 74;
/// Least width of a box.
const BOX_WIDTH: i32 = 216;
/// Between two boxes of a layer.
const APART: i32 = 72;
/// Height of a track.
const TRACK: i32 = 28;
/// Between a layer and its first track.
const MARGIN: i32 = 20;
/// Between two ports of a box, and two wires that go round.
const PORT: i32 = 16;
/// Verticals are at least so far from each other.
const CLOSE: i32 = 7;

/// A wire before it has a place.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    /// Index of a box.
    pub from: usize,
    /// Index of a box.
    pub to: usize,
    /// Whether it says what comes before what.
    pub forward: bool,
    /// How much it should point down.
    pub weight: u32,
    /// Width of its label.
    pub label: i32,
}

/// A wire's place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Route {
    /// Corners, from the box that it leaves to the one that it enters.
    pub points: Vec<(i32, i32)>,
    /// The middle of its label.
    pub label: (i32, i32),
}

/// A drawing's geometry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Layout {
    /// Width of all.
    pub width: i32,
    /// Height of all.
    pub height: i32,
    /// Left, top and width of each box.
    pub boxes: Vec<(i32, i32, i32)>,
    /// The route of each wire.
    pub routes: Vec<Route>,
    /// Boxes from the top, and from left to right: the order in which one reads them.
    pub order: Vec<usize>,
}

/// One horizontal piece of a wire.
struct Leg {
    wire: usize,
    /// Below which layer it lies.
    gap: usize,
    /// Where its ends are, and whether each goes on upwards.
    ends: [(i32, bool); 2],
    /// Whether the wire's label lies on it.
    labelled: bool,
}

/// Lays out `count` boxes.
pub(super) fn layout(count: usize, wires: &[Wire]) -> Layout {
    let layers = order_layers(layers(count, wires), wires);
    let mut layer = vec![0; count];
    for (at, members) in layers.iter().enumerate() {
        for &member in members {
            layer[member] = at;
        }
    }
    let sides = Sides::new(&layer, wires);
    let mut boxes = place(&layers, &sides);
    let left = boxes.iter().map(|at| at.0).min().unwrap_or(0);
    let right = boxes.iter().map(|at| at.0 + at.2).max().unwrap_or(0);
    let mut legs = legs(&layer, wires, &boxes, &sides, (left, right));
    let mut tops = Vec::new();
    let mut top = 2;
    let mut rows: Vec<Vec<(usize, i32)>> = Vec::new();
    for gap in 0..layers.len() {
        tops.push(top);
        let mut tracks: Vec<usize> = (0..legs.len()).filter(|&leg| legs[leg].gap == gap).collect();
        uncross(&mut tracks, &legs, wires);
        let tracks = share(&tracks, &legs, wires);
        let count = tracks.iter().map(|it| it.1 + 1).max().unwrap_or(0);
        let last = gap + 1 == layers.len();
        top += BOX + if last && count == 0 { 2 } else { 2 * MARGIN + TRACK * count.max(1) };
        rows.push(tracks);
    }
    for (member, at) in boxes.iter_mut().enumerate() {
        at.1 = tops[layer[member]];
    }
    let mut track = vec![0; legs.len()];
    for (gap, tracks) in rows.iter().enumerate() {
        for &(leg, row) in tracks {
            track[leg] = tops[gap] + BOX + MARGIN + TRACK * row + TRACK / 2;
        }
    }
    let mut routes = vec![Route::default(); wires.len()];
    for (at, leg) in legs.iter_mut().enumerate() {
        let y = track[at];
        let route = &mut routes[leg.wire];
        let (from, to) = (leg.ends[0], leg.ends[1]);
        if route.points.is_empty() {
            route.points.push((from.0, if from.1 { tops[leg.gap] + BOX } else { tops[leg.gap + 1] }));
        }
        route.points.extend([(from.0, y), (to.0, y)]);
        let target = wires[leg.wire].to;
        let goes_round = to.0 < left || to.0 > right;
        if !goes_round {
            route.points.push((to.0, if to.1 { boxes[target].1 + BOX } else { boxes[target].1 }));
        }
        if leg.labelled {
            route.label = ((from.0 + to.0) / 2, y);
        }
    }
    let order = layers.into_iter().flatten().collect();
    fit(Layout { width: 0, height: top, boxes, routes, order }, wires)
}

/// Moves all so that the leftmost is at the margin.
fn fit(mut layout: Layout, wires: &[Wire]) -> Layout {
    let (mut left, mut right) = (0, 0);
    let mut cover = |from: i32, to: i32| {
        left = left.min(from);
        right = right.max(to);
    };
    for &(x, _, width) in &layout.boxes {
        cover(x, x + width);
    }
    for (route, wire) in layout.routes.iter().zip(wires) {
        cover(route.label.0 - wire.label / 2, route.label.0 + wire.label / 2);
        for &(x, _) in &route.points {
            cover(x - 2, x + 2);
        }
    }
    let by = 4 - left;
    layout.width = right + by + 4;
    for at in &mut layout.boxes {
        at.0 += by;
    }
    for route in &mut layout.routes {
        route.label.0 += by;
        for point in &mut route.points {
            point.0 += by;
        }
    }
    layout
}

/// Layers by longest path over what is left of the forward wires without cycles.
fn layers(count: usize, wires: &[Wire]) -> Vec<Vec<usize>> {
    let rank = if count <= EXACT { best_ranks(count, wires) } else { ranks(count, wires) };
    let mut depth = vec![0; count];
    let mut sorted: Vec<usize> = (0..count).collect();
    sorted.sort_by_key(|&member| rank[member]);
    for &member in &sorted {
        for wire in wires.iter().filter(|wire| wire.forward && wire.from == member && rank[wire.to] > rank[member]) {
            depth[wire.to] = depth[wire.to].max(depth[member] + 1);
        }
    }
    let mut layers: Vec<Vec<usize>> = Vec::new();
    for at in 0..=depth.iter().copied().max().unwrap_or(0) {
        let members: Vec<usize> = (0..count).filter(|&member| depth[member] == at).collect();
        layers.extend(members.chunks(WIDEST).map(<[usize]>::to_vec));
    }
    layers
}

/// The order in which the least weight points up, and of those the one with the shortest wires: a path
/// over all sets of boxes that may stand above the others.
fn best_ranks(count: usize, wires: &[Wire]) -> Vec<usize> {
    let weight = |wire: &Wire| u64::from(wire.weight.max(1));
    let inside = |set: usize, member: usize| set >> member & 1 == 1;
    let mut best: Vec<(u64, usize)> = vec![(u64::MAX, 0); 1 << count];
    best[0].0 = 0;
    for set in 0..best.len() {
        for next in (0..count).filter(|&next| !inside(set, next)) {
            let with = set | 1 << next;
            let (mut up, mut cut) = (0, 0);
            for wire in wires.iter().filter(|wire| wire.from != wire.to) {
                if wire.forward && wire.from == next && inside(set, wire.to) {
                    up += weight(wire);
                }
                if inside(with, wire.from) != inside(with, wire.to) {
                    cut += weight(wire);
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

/// An order in which few forward wires point up: what only gives goes first, what only takes last, and
/// of the rest what gives most beyond what it takes (Eades, Lin and Smyth).
fn ranks(count: usize, wires: &[Wire]) -> Vec<usize> {
    let mut left: Vec<usize> = (0..count).collect();
    let (mut head, mut tail) = (Vec::new(), Vec::new());
    while !left.is_empty() {
        let flow = |member: usize, out: bool| -> u64 {
            let other = |wire: &Wire| if out { wire.to } else { wire.from };
            let own = |wire: &&Wire| wire.forward && member == if out { wire.from } else { wire.to };
            wires
                .iter()
                .filter(own)
                .filter(|&wire| other(wire) != member && left.contains(&other(wire)))
                .map(|wire| u64::from(wire.weight.max(1)))
                .sum()
        };
        let chosen = if let Some(at) = left.iter().position(|&member| flow(member, false) == 0) {
            head.push(left[at]);
            at
        } else if let Some(at) = left.iter().position(|&member| flow(member, true) == 0) {
            tail.push(left[at]);
            at
        } else {
            let gain = |member: usize| flow(member, true) as i64 - flow(member, false) as i64;
            let best = (0..left.len()).max_by_key(|&at| (gain(left[at]), Reverse(at))).unwrap_or(0);
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

/// Within layers, what is connected stands above each other.
fn order_layers(mut layers: Vec<Vec<usize>>, wires: &[Wire]) -> Vec<Vec<usize>> {
    for _ in 0..4 {
        let middle: Vec<(usize, i64)> = layers
            .iter()
            .flat_map(|members| {
                let width = members.len() as i64;
                members.iter().enumerate().map(move |(at, &member)| (member, (2 * at as i64 + 1 - width) * 1000))
            })
            .collect();
        let of = |member: usize| middle.iter().find(|it| it.0 == member).map_or(0, |it| it.1);
        for members in &mut layers {
            let wish = |member: usize| -> i64 {
                let others = wires.iter().filter(|wire| wire.from != wire.to).filter_map(|wire| {
                    if wire.from == member { Some(wire.to) } else { (wire.to == member).then_some(wire.from) }
                });
                let others: Vec<i64> = others.map(of).collect();
                if others.is_empty() { of(member) } else { others.iter().sum::<i64>() / others.len() as i64 }
            };
            let mut wishes: Vec<(i64, usize)> = members.iter().map(|&member| (wish(member), member)).collect();
            wishes.sort_by_key(|it| it.0);
            *members = wishes.into_iter().map(|it| it.1).collect();
        }
    }
    layers
}

/// Which wires leave and enter each box at its top and at its bottom.
struct Sides {
    /// Per wire: whether it leaves at the bottom, whether it enters at the bottom.
    bottom: Vec<(bool, bool)>,
    /// Per box: wires and which end, at the top and at the bottom.
    ports: Vec<[Vec<(usize, bool)>; 2]>,
}

impl Sides {
    fn new(layer: &[usize], wires: &[Wire]) -> Sides {
        let mut sides = Sides { bottom: Vec::new(), ports: vec![<[Vec<_>; 2]>::default(); layer.len()] };
        for (at, wire) in wires.iter().enumerate() {
            let (from, to) = (layer[wire.from], layer[wire.to]);
            let bottom = (from <= to, from >= to);
            sides.bottom.push(bottom);
            sides.ports[wire.from][usize::from(bottom.0)].push((at, false));
            sides.ports[wire.to][usize::from(bottom.1)].push((at, true));
        }
        sides
    }
}

/// Left ends and widths; tops come when the tracks are counted.
fn place(layers: &[Vec<usize>], sides: &Sides) -> Vec<(i32, i32, i32)> {
    let mut boxes = vec![(0, 0, 0); sides.ports.len()];
    for members in layers {
        let width = |member: usize| {
            let ports = sides.ports[member].iter().map(Vec::len).max().unwrap_or(0) as i32;
            BOX_WIDTH.max((ports + 1) * PORT)
        };
        let all: i32 = members.iter().map(|&member| width(member) + APART).sum::<i32>() - APART;
        let mut x = -all / 2;
        for &member in members {
            boxes[member] = (x, 0, width(member));
            x += width(member) + APART;
        }
    }
    boxes
}

/// The horizontal pieces of all wires, with the places of their ports.
fn legs(
    layer: &[usize],
    wires: &[Wire],
    boxes: &[(i32, i32, i32)],
    sides: &Sides,
    (left, right): (i32, i32),
) -> Vec<Leg> {
    let long = |wire: &Wire| layer[wire.from].abs_diff(layer[wire.to]) > 1;
    // What goes round: the shorter, the closer.
    let mut round: Vec<usize> = (0..wires.len()).filter(|&at| long(&wires[at])).collect();
    round.sort_by_key(|&at| layer[wires[at].from].abs_diff(layer[wires[at].to]));
    let mut channel = vec![0; wires.len()];
    let (mut out_left, mut out_right) = (left - PORT - 6, right + PORT + 6);
    for at in round {
        if wires[at].forward {
            channel[at] = out_left;
            out_left -= PORT;
        } else {
            channel[at] = out_right;
            out_right += PORT;
        }
    }
    let middle = |member: usize| boxes[member].0 + boxes[member].2 / 2;
    let mut port = vec![(0, 0); wires.len()];
    let mut taken: Vec<(usize, i32, usize)> = Vec::new();
    for (member, both) in sides.ports.iter().enumerate() {
        for (side, ends) in both.iter().enumerate() {
            let aim = |&(at, enters): &(usize, bool)| {
                let wire = &wires[at];
                let other = if enters { wire.from } else { wire.to };
                if long(wire) { channel[at] } else { middle(other) }
            };
            let mut ends = ends.clone();
            ends.sort_by_key(|end| (aim(end), end.0, end.1));
            let (x, width) = (boxes[member].0, boxes[member].2);
            let step = width / (ends.len() as i32 + 1);
            let gap = if side == 1 { layer[member] } else { layer[member].wrapping_sub(1) };
            for (at, (wire, enters)) in ends.into_iter().enumerate() {
                let wish = x + step * (at as i32 + 1);
                let place = free(&taken, gap, wire, wish, x + 8, x + width - 8);
                taken.push((gap, place, wire));
                if enters {
                    port[wire].1 = place;
                } else {
                    port[wire].0 = place;
                }
            }
        }
    }
    let mut legs = Vec::new();
    for (at, wire) in wires.iter().enumerate() {
        let (leaves, enters) = sides.bottom[at];
        let (from, to) = (layer[wire.from], layer[wire.to]);
        let gap = |layer: usize, bottom: bool| if bottom { layer } else { layer.saturating_sub(1) };
        let (first, second) = (gap(from, leaves), gap(to, enters));
        let (start, end) = ((port[at].0, leaves), (port[at].1, enters));
        if first == second {
            legs.push(Leg { wire: at, gap: first, ends: [start, end], labelled: true });
        } else {
            let down = second > first;
            legs.push(Leg { wire: at, gap: first, ends: [start, (channel[at], !down)], labelled: true });
            legs.push(Leg { wire: at, gap: second, ends: [(channel[at], down), end], labelled: false });
        }
    }
    legs
}

/// The place next to `wish` where no other wire runs down through the same gap.
fn free(taken: &[(usize, i32, usize)], gap: usize, wire: usize, wish: i32, least: i32, most: i32) -> i32 {
    let clear = |x: i32| {
        let near = |it: &&(usize, i32, usize)| it.0 == gap && (it.1 - x).abs() < CLOSE;
        // A wire that goes straight down has both its ends at one place.
        taken.iter().filter(near).all(|it| it.2 == wire && it.1 == x)
    };
    let tries = (0..most - least).flat_map(|by| [wish + by, wish - by]);
    tries.filter(|x| (least..=most).contains(x)).find(|&x| clear(x)).unwrap_or(wish)
}

/// From where to where a leg reaches, with its label.
fn span(leg: &Leg, wires: &[Wire]) -> (i32, i32) {
    let (a, b) = (leg.ends[0].0, leg.ends[1].0);
    let (mut low, mut high) = (a.min(b), a.max(b));
    if leg.labelled {
        let half = wires[leg.wire].label / 2;
        low = low.min((a + b) / 2 - half);
        high = high.max((a + b) / 2 + half);
    }
    (low - 4, high + 4)
}

/// The row of each leg: as far up as those before it that it meets allow.
fn share(tracks: &[usize], legs: &[Leg], wires: &[Wire]) -> Vec<(usize, i32)> {
    let mut rows: Vec<(usize, i32)> = Vec::new();
    for &leg in tracks {
        let (low, high) = span(&legs[leg], wires);
        let meets = |other: usize| {
            let (from, to) = span(&legs[other], wires);
            from <= high && low <= to
        };
        let row = rows.iter().filter(|it| meets(it.0)).map(|it| it.1 + 1).max().unwrap_or(0);
        rows.push((leg, row));
    }
    rows
}

/// Orders the tracks of a gap so that few wires cross, by exchanging neighbours.
fn uncross(tracks: &mut [usize], legs: &[Leg], wires: &[Wire]) {
    // With `upper` above `lower`: verticals of the one that run through the other.
    let cost = |upper: usize, lower: usize| -> usize {
        let through = |leg: &Leg, up: bool, other: &Leg| {
            let (low, high) = span(other, wires);
            leg.ends.iter().filter(|end| end.1 == up && (low..=high).contains(&end.0)).count()
        };
        through(&legs[lower], true, &legs[upper]) + through(&legs[upper], false, &legs[lower])
    };
    for _ in 0..tracks.len() {
        let mut changed = false;
        for at in 1..tracks.len() {
            if cost(tracks[at - 1], tracks[at]) > cost(tracks[at], tracks[at - 1]) {
                tracks.swap(at - 1, at);
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(from: usize, to: usize, forward: bool) -> Wire {
        Wire { from, to, forward, weight: 1, label: 120 }
    }

    /// All pairs of `count` boxes, forward and backward.
    fn dense(count: usize) -> Vec<Wire> {
        let pairs = (0..count).flat_map(|from| (0..count).map(move |to| (from, to)));
        pairs.flat_map(|(from, to)| [wire(from, to, from < to), wire(to, from, false)]).collect()
    }

    fn check(count: usize, wires: &[Wire]) -> Layout {
        let layout = layout(count, wires);
        for (route, wire) in layout.routes.iter().zip(wires) {
            for pair in route.points.windows(2) {
                assert!(pair[0].0 == pair[1].0 || pair[0].1 == pair[1].1, "{:?} has a slope", route.points);
            }
            for (point, member) in [(route.points.first(), wire.from), (route.points.last(), wire.to)] {
                let (x, y) = *point.expect("a route has ends");
                let (left, top, width) = layout.boxes[member];
                assert!((left..=left + width).contains(&x) && (y == top || y == top + BOX), "{:?}", route.points);
            }
            let (x, y) = route.label;
            assert!(x - wire.label / 2 >= 0 && x + wire.label / 2 <= layout.width && y < layout.height);
            let inside = |at: &&(i32, i32, i32)| y + 11 > at.1 && y - 11 < at.1 + BOX;
            assert_eq!(layout.boxes.iter().find(inside), None, "a label lies on a box");
        }
        for (at, one) in layout.routes.iter().enumerate() {
            for (other, route) in layout.routes[..at].iter().enumerate() {
                let least = (wires[at].label + wires[other].label) / 2;
                let (dx, dy) = (one.label.0 - route.label.0, one.label.1 - route.label.1);
                assert!(dy.abs() >= 22 || dx.abs() > least, "labels meet");
            }
        }
        for (at, one) in layout.boxes.iter().enumerate() {
            for other in &layout.boxes[..at] {
                let apart = one.1 != other.1 || one.0 + one.2 < other.0 || other.0 + other.2 < one.0;
                assert!(apart, "boxes meet: {one:?} {other:?}");
            }
        }
        layout
    }

    #[test]
    fn nothing_overlaps_however_dense() {
        for count in 1..=7 {
            check(count, &dense(count));
        }
        check(0, &[]);
        check(12, &[]);
    }

    #[test]
    fn a_pipeline_goes_down() {
        let wires = [wire(2, 1, true), wire(1, 0, true), wire(0, 1, false), wire(1, 2, false)];
        let layout = check(3, &wires);
        assert_eq!(layout.order, [2, 1, 0]);
        let tops: Vec<i32> = layout.order.iter().map(|&member| layout.boxes[member].1).collect();
        assert!(tops.is_sorted());
    }

    #[test]
    fn of_a_cycle_the_heavier_half_goes_down() {
        let wires = [Wire { weight: 9, ..wire(1, 0, true) }, wire(0, 1, true), wire(2, 1, true)];
        assert_eq!(check(3, &wires).order, [2, 1, 0]);
    }

    #[test]
    fn of_two_halves_that_weigh_the_same_the_one_with_short_wires_goes_down() {
        let heavy = Wire { weight: 4, ..wire(0, 1, true) };
        let wires = [heavy, wire(1, 2, true), wire(2, 1, true), wire(2, 3, true), wire(3, 1, true), wire(1, 3, true)];
        assert_eq!(check(4, &wires).order, [0, 1, 2, 3]);
        let many: Vec<Wire> = (1..16).map(|at| wire(at - 1, at, true)).collect();
        assert_eq!(check(16, &many).order, (0..16).collect::<Vec<_>>());
    }

    #[test]
    fn what_passes_a_layer_goes_round_it() {
        let wires = [wire(0, 1, true), wire(1, 2, true), wire(0, 2, true), wire(2, 0, false)];
        let layout = check(3, &wires);
        let (left, _, width) = layout.boxes[1];
        assert!(layout.routes[2].points.iter().any(|point| point.0 < left));
        assert!(layout.routes[3].points.iter().any(|point| point.0 > left + width));
    }
}
