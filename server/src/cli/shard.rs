//! `--shard I/N`: a part of the files, chosen by their paths.

use std::str::FromStr;

use render::check::fingerprint;

/// The part with this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    number: u32,
    of: u32,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let parts = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        let shard = parts.filter(|(number, of)| (1..=*of).contains(number));
        shard.map(|(number, of)| Shard { number, of }).ok_or_else(|| "I/N with I from 1 to N, such as 2/4".to_owned())
    }
}

impl Shard {
    /// Whether a file belongs to it. Which files there are beside it does not matter.
    pub(crate) fn has(self, path: &str) -> bool {
        let path = path.replace('\\', "/");
        let path = path.strip_prefix("./").unwrap_or(&path);
        let hash = fingerprint::hash(path);
        // Folded: few bytes have a part in the low bits.
        (hash ^ (hash >> 32)) % u64::from(self.of) + 1 == u64::from(self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_path_is_in_one_shard() {
        let shards: Vec<Shard> = (1..=4).map(|at| format!("{at}/4").parse().expect("a shard")).collect();
        let mut sizes = [0; 4];
        for at in 0..400 {
            let path = format!("kernels/k{at}.py");
            let of: Vec<usize> = (0..4).filter(|shard| shards[*shard].has(&path)).collect();
            assert_eq!(of.len(), 1, "{path}");
            assert!(shards[of[0]].has(&format!("./{path}")));
            sizes[of[0]] += 1;
        }
        assert!(sizes.iter().all(|size| (60..140).contains(size)), "{sizes:?}");
        for wrong in ["0/4", "5/4", "1", "1/0", "a/b", ""] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
