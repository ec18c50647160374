//! Debug.
use std::collections::BTreeMap;
fn main() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let quiet = std::env::var("QUIET").is_ok();
    let mut total = 0.0;
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap();
        let document = ttgir::Document::new(text.as_str());
        for section in document.sections() {
            let t = std::time::Instant::now();
            let names: Vec<String> = section
                .text()
                .split("tt.func public @")
                .nth(1)
                .unwrap_or("")
                .lines()
                .next()
                .unwrap_or("")
                .split('%')
                .skip(1)
                .map(|p| p.split(':').next().unwrap_or("").to_string())
                .collect();
            let launch = || {
                let mut launch = races::Launch::default();
                if let Ok(text) = std::env::var("ARGS") {
                    for (at, value) in text.split(',').enumerate() {
                        if let Ok(value) = value.parse::<i64>() {
                            launch.values.push((names[at].clone(), value));
                        }
                        if let Some(of) = value.strip_prefix('=') {
                            launch.memory.push((names[at].clone(), of.parse().unwrap()));
                        }
                        if !value.starts_with('=') {
                            launch.memory.push((names[at].clone(), at as u32));
                        }
                        if let Some(of) = value.strip_prefix('@') {
                            launch
                                .contents
                                .push((names[at].clone(), of.split(';').map(|v| v.parse::<i64>().unwrap()).collect()));
                        }
                    }
                }
                if let Ok(grid) = std::env::var("GRID") {
                    for (at, g) in grid.split(',').enumerate() {
                        launch.grid[at] = g.parse().ok();
                    }
                }
                launch
            };
            if std::env::var("CROSS").is_ok() {
                for (a, b) in races::contradictions(section.tree(), &launch(), &base::Cancel::never()).unwrap() {
                    let l = |r: base::TextRange| {
                        section.text()[r.start as usize..r.end as usize].chars().take(90).collect::<String>()
                    };
                    println!("CONTRADICTION {path}: {} | {}", l(a), l(b));
                }
                continue;
            }
            for global in races::races(section.tree(), &[launch()], &base::Cancel::never()).unwrap() {
                let ms = t.elapsed().as_secs_f64() * 1e3;
                total += ms;
                *counts.entry(format!("{:?}", global.status)).or_default() += 1;
                if quiet && matches!(global.status, races::Status::Proved | races::Status::NoWrites) {
                    continue;
                }
                println!("{path} {} {:?} {ms:.2} ms runs {}", global.kernel, global.status, global.runs);
                for a in &global.assumed {
                    println!("    assumed: {}", a.text);
                }
                for r in &global.reasons {
                    println!(
                        "    reason: {} | {}",
                        r.text,
                        section.text()[r.range.start as usize..].lines().next().unwrap_or("")
                    );
                }
                for r in &global.races {
                    println!(
                        "    RACE {} [{}] +{} x{} {:?} {:?} grid {:?} {:?}",
                        r.tensor,
                        r.index,
                        r.start,
                        r.bytes,
                        (&r.first.op, &r.first.program, &r.first.lane, &r.first.rounds),
                        (&r.second.op, &r.second.program, &r.second.lane, &r.second.rounds),
                        r.grid,
                        r.inputs
                    );
                }
            }
        }
    }
    println!("{counts:?} {total:.1} ms");
}
