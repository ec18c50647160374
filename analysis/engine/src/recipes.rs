//! Launches that a text gives in comments: `// fencepost-run: grid=(4,) x_ptr=i32[256]:zeros n=130`.
//!
//! The whole notation is that of runs, which read it with all that may be wrong in it. Here only what the addresses of
//! global memory can depend on is taken: the grid, integers, and integer tensors whose elements the recipe spells out.

use crate::limits::recipes::ELEMENTS;
use races::Launch;

/// What tells a recipe from other comments.
const MARK: &str = "fencepost-run:";

/// The launches of a text.
pub(crate) fn recipes(text: &str, sign: &str) -> Vec<Launch> {
    let mut all = Vec::new();
    if !text.contains(MARK) {
        return all;
    }
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let body = line.trim_start().strip_prefix(sign).map(str::trim_start);
        let Some(first) = body.and_then(|body| body.strip_prefix(MARK)) else { continue };
        let mut words = first.to_owned();
        while let Some(more) = lines.peek().and_then(|line| line.trim_start().strip_prefix(sign)) {
            if !more.starts_with("   ") {
                break;
            }
            words.push(' ');
            words.push_str(more.trim());
            lines.next();
        }
        all.push(launch(&words));
    }
    all
}

fn launch(words: &str) -> Launch {
    let mut launch = Launch { grid: [Some(1); 3], ..Launch::default() };
    for (at, word) in words.split_whitespace().enumerate() {
        let Some((name, value)) = word.split_once('=') else {
            if at == 0 {
                launch.kernel = Some(word.trim_start_matches('@').to_owned());
            }
            continue;
        };
        if name == "grid" {
            let sizes = value.trim_matches(['(', ')']).split(',').map(str::trim).filter(|size| !size.is_empty());
            for (to, size) in launch.grid.iter_mut().zip(sizes) {
                *to = size.parse().ok();
            }
        } else if let Some(value) = integer(value) {
            launch.values.push((name.to_owned(), value));
        } else if let Some((ty, rest)) = value.split_once('[') {
            // Each tensor of a recipe is memory of its own.
            launch.memory.push((name.to_owned(), launch.memory.len() as u32));
            if ty.trim_start_matches('u').starts_with('i')
                && let Some(elements) = elements(rest)
            {
                launch.contents.push((name.to_owned(), elements.into()));
            }
        }
    }
    launch
}

fn integer(value: &str) -> Option<i64> {
    match value {
        "True" => Some(1),
        "False" => Some(0),
        _ => value.parse().ok(),
    }
}

/// The elements of `64,4]:zeros`.
fn elements(rest: &str) -> Option<Vec<i64>> {
    let (sizes, fill) = rest.split_once(']')?;
    let count = sizes.split(',').try_fold(1i64, |all, size| all.checked_mul(size.trim().parse().ok()?))?;
    if !(0..=ELEMENTS).contains(&count) {
        return None;
    }
    let fill = fill.split_once(':').map_or("zeros", |(_, fill)| fill);
    match fill {
        "zeros" => Some(vec![0; count as usize]),
        "ones" => Some(vec![1; count as usize]),
        "arange" => Some((0..count).collect()),
        _ => {
            let value = fill.strip_prefix("value(")?.strip_suffix(')')?.parse().ok()?;
            Some(vec![value; count as usize])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_integers_and_spelt_out_tensors_are_taken() {
        let text =
            "// fencepost-run: copy grid=(4,2) n=130\n//    x_ptr=f16[64] idx=i32[4]:arange flag=i32[2]\nmodule {}\n";
        let all = recipes(text, "//");
        let [launch] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!(launch.kernel.as_deref(), Some("copy"));
        assert_eq!(launch.grid, [Some(4), Some(2), Some(1)]);
        assert_eq!(launch.values, [("n".to_owned(), 130)]);
        assert_eq!(launch.memory.len(), 3);
        let contents: Vec<(&str, &[i64])> = launch.contents.iter().map(|(name, of)| (name.as_str(), &**of)).collect();
        assert_eq!(contents, [("idx", &[0, 1, 2, 3][..]), ("flag", &[0, 0][..])]);
        assert!(recipes("# fencepost-run: grid=(1,)", "//").is_empty());
    }
}
