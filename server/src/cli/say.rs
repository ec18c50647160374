//! What goes to standard error: one prefix for what is wrong, one for what else there is to know.

use std::fmt::Display;
use std::io::{self, Write};

use render::printable::printable;

/// Says what is wrong.
pub(crate) fn error(text: impl Display) -> io::Result<()> {
    writeln!(io::stderr(), "error: {}", printable(&text.to_string()))
}

/// Says what else there is to know.
pub(crate) fn note(text: impl Display) -> io::Result<()> {
    writeln!(io::stderr(), "note: {}", printable(&text.to_string()))
}

/// That a file has no such kernel, with those that it has.
pub(crate) fn no_kernel<'a>(name: &str, there: impl IntoIterator<Item = &'a str>) -> String {
    let mut known: Vec<&str> = Vec::new();
    for one in there {
        if !known.contains(&one) {
            known.push(one);
        }
    }
    let listed: Vec<String> = known.iter().map(|name| format!("@{name}")).collect();
    let near = settings::nearest(name, known.iter().copied()).filter(|_| known.len() > 1);
    let there_are = if known.len() == 1 { "is" } else { "are" };
    let there_are = match near {
        Some(near) => format!(": did you mean @{near}? There {there_are}"),
        None => format!("; there {there_are}"),
    };
    match listed.as_slice() {
        [] => format!("there is no kernel @{name}, nor any other"),
        all => format!("there is no kernel @{name}{there_are} {}", all.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::no_kernel;

    #[test]
    fn kernels_that_there_are_stand_beside_the_one_that_there_is_not() {
        assert_eq!(no_kernel("f", []), "there is no kernel @f, nor any other");
        assert_eq!(no_kernel("f", ["g", "g"]), "there is no kernel @f; there is @g");
        let several = no_kernel("matmal", ["copy", "matmul"]);
        assert_eq!(several, "there is no kernel @matmal: did you mean @matmul? There are @copy, @matmul");
    }
}
