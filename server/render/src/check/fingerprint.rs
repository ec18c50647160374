//! What a finding is known by from one text of a file to the next: its kind, its kernel and the text of the lines that
//! it is about. Lines that move, comments, numbers of SSA values and locations change nothing.

use findings::{Finding, TextProblem};

/// A finding in a file's text, as 16 digits. Two findings that look alike have the same.
pub fn of_finding(finding: &Finding, text: &str, python: bool) -> String {
    let mut hash = Fnv::default();
    hash.part(finding.kind.name());
    hash.part(&finding.kernel);
    hash.part(&site(text, finding.range.start, python));
    for other in finding.sites.iter().filter(|site| !site.primary) {
        hash.part(&site(text, other.range.start, python));
    }
    hash.digits()
}

/// The same of a problem of a file.
pub fn of_problem(problem: &TextProblem, text: &str, python: bool) -> String {
    let mut hash = Fnv::default();
    hash.part(problem.code);
    hash.part(&site(text, problem.range.start, python));
    hash.digits()
}

/// The line of an offset without what changes when other lines do.
pub fn site(text: &str, offset: u32, python: bool) -> String {
    let start = text.get(..offset as usize).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
    let line = text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or("");
    let code = without_comment(line, if python { "#" } else { "//" });
    let words = code.split_whitespace().collect::<Vec<_>>().join(" ");
    if python { words } else { without_numbers(words.split(" loc(").next().unwrap_or("")) }
}

/// A line without the comment behind it. A sign in a string is none, nor one that sticks to the word before it.
fn without_comment<'l>(line: &'l str, sign: &str) -> &'l str {
    let comment = line.match_indices(sign).map(|(at, _)| at).find(|&at| {
        let before = line.get(..at).unwrap_or("");
        let quoted = before.matches('"').count() % 2 == 1 || before.matches('\'').count() % 2 == 1;
        !quoted && (before.is_empty() || before.ends_with(char::is_whitespace))
    });
    comment.and_then(|at| line.get(..at)).unwrap_or(line)
}

/// `%12` as `%`: such names count the values before them.
fn without_numbers(line: &str) -> String {
    let mut parts = line.split('%');
    let mut out = parts.next().unwrap_or("").to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
        let numbered = rest.len() < part.len() && !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        out.push('%');
        out.push_str(if numbered { rest } else { part });
    }
    out
}

/// A number for a text, the same on every machine and in every release.
pub fn hash(text: &str) -> u64 {
    let mut hash = Fnv::default();
    hash.part(text);
    hash.0
}

/// FNV-1a over 64 bits.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn part(&mut self, text: &str) {
        for byte in text.bytes().chain([0]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn digits(&self) -> String {
        format!("{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::TextRange;
    use findings::Kind;

    #[test]
    fn what_other_lines_do_changes_nothing() {
        let at = |text: &str, python: bool| {
            let start = text.find("wait").unwrap_or_default() as u32;
            let range = TextRange::new(start, start + 4);
            of_finding(&Finding::at(Kind::Deadlock, String::new(), range, "k"), text, python)
        };
        let ir = at("  ttng.wait_barrier %12, %c0 loc(#loc3)\n", false);
        assert_eq!(at("x\n\n    ttng.wait_barrier %7,  %c0 loc(#loc9) // why\n", false), ir);
        assert_ne!(at("  ttng.wait_barrier %12, %c1 loc(#loc3)\n", false), ir);
        let python = at("wait(bar, a // b)\n", true);
        assert_eq!(at("# more\n  wait(bar, a // b)  # fencepost: ignore[deadlock] x\n", true), python);
        assert_ne!(at("wait(bar, a // c)\n", true), python);
    }

    #[test]
    fn only_numbers_are_left_out_of_names() {
        assert_eq!(without_numbers("%12#1 = f %a1, %3_x, %c0_i32"), "%#1 = f %a1, %3_x, %c0_i32");
    }
}
