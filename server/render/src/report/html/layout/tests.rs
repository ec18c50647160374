use super::*;

fn link(from: usize, to: usize, down: u32, up: u32) -> Connection {
    Connection { ends: (from, to), lines: 2, label: (240, 60), down, up }
}

/// All pairs of `count` boxes, and all of them with themselves.
fn dense(count: usize) -> Vec<Connection> {
    let pairs = (0..count).flat_map(|from| (from..count).map(move |to| (from, to)));
    pairs.map(|(from, to)| link(from, to, 2, 1)).collect()
}

/// Holds what no drawing may break; gives it with its number of crossings.
fn check(count: usize, connections: &[Connection]) -> (Layout, usize) {
    let layout = layout(&vec![74; count], connections);
    let mut rects: Vec<(i32, i32, i32, i32)> =
        layout.boxes.iter().map(|it| (it.x, it.y, it.x + it.width, it.y + it.height)).collect();
    for (route, it) in layout.routes.iter().zip(connections) {
        let (upper, lower) = if route.turned { (it.ends.1, it.ends.0) } else { it.ends };
        assert_eq!(route.lines.len(), it.lines);
        for points in &route.lines {
            for pair in points.windows(2) {
                assert!(pair[0].0 == pair[1].0 || pair[0].1 == pair[1].1, "{points:?} has a slope");
            }
            for (point, member) in [(points.first(), upper), (points.last(), lower)] {
                let (x, y) = *point.expect("a line has ends");
                let it = layout.boxes[member];
                let inside = (it.x..=it.x + it.width).contains(&x) && (it.y..=it.y + it.height).contains(&y);
                assert!(inside, "{points:?}");
            }
        }
        let (x, y) = route.label;
        assert!(x >= 0 && x + it.label.0 <= layout.width && y >= 0 && y + it.label.1 <= layout.height);
        rects.push((x, y, x + it.label.0, y + it.label.1));
    }
    for (at, a) in rects.iter().enumerate() {
        for b in &rects[..at] {
            assert!(a.0 >= b.2 || b.0 >= a.2 || a.1 >= b.3 || b.1 >= a.3, "{a:?} lies on {b:?}");
        }
    }
    let lines: Vec<&Vec<(i32, i32)>> = layout.routes.iter().flat_map(|route| &route.lines).collect();
    for points in &lines {
        for pair in points.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            let on = |r: &&(i32, i32, i32, i32)| {
                a.0.min(b.0) < r.2 && r.0 < a.0.max(b.0) && a.1.min(b.1) < r.3 && r.1 < a.1.max(b.1)
            };
            assert_eq!(rects.iter().find(on), None, "{points:?} runs through a box or a label");
        }
    }
    let mut crossings = 0;
    for (at, one) in lines.iter().enumerate() {
        crossings += lines[..at].iter().map(|other| crossed(one, other)).sum::<usize>();
    }
    (layout, crossings)
}

/// How often two lines meet.
fn crossed(one: &[(i32, i32)], other: &[(i32, i32)]) -> usize {
    let meets = |a: &[(i32, i32)], b: &[(i32, i32)]| {
        let within = |a: &[(i32, i32)], b: &[(i32, i32)], of: fn((i32, i32)) -> i32| {
            let span = |it: &[(i32, i32)]| (of(it[0]).min(of(it[1])), of(it[0]).max(of(it[1])));
            span(a).0 <= span(b).1 && span(b).0 <= span(a).1
        };
        within(a, b, |point| point.0) && within(a, b, |point| point.1)
    };
    one.windows(2).map(|a| other.windows(2).filter(|b| meets(a, b)).count()).sum()
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
    let (layout, crossings) = check(3, &[link(1, 2, 1, 4), link(0, 1, 1, 4)]);
    assert_eq!((layout.order, crossings), (vec![2, 1, 0], 0));
}

#[test]
fn of_a_cycle_the_heavier_half_goes_down() {
    let (layout, _) = check(3, &[link(0, 1, 1, 9), link(1, 2, 0, 1)]);
    assert_eq!(layout.order, [2, 1, 0]);
}

#[test]
fn many_boxes_go_down_too() {
    let many: Vec<Connection> = (1..16).map(|at| link(at - 1, at, 1, 0)).collect();
    assert_eq!(check(16, &many).0.order, (0..16).collect::<Vec<_>>());
}

#[test]
fn what_can_be_drawn_without_crossings_is() {
    // Attention: loads, products, two softmaxes, their correction, and the store.
    let attention = [
        link(2, 0, 4, 3),
        link(0, 3, 2, 1),
        link(0, 4, 2, 1),
        link(0, 5, 2, 3),
        link(3, 5, 3, 0),
        link(4, 5, 3, 0),
        link(5, 1, 2, 0),
        link(2, 5, 0, 0),
    ];
    assert_eq!(check(6, &attention).1, 0);
    // Four that all know each other.
    assert_eq!(check(4, &dense(4)).1, 0);
}
