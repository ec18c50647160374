//! `cargo xtask new-op DIALECT.OP`: a skeleton of an op's declaration in its dialect's file.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// Where an op may need code of its own beside its declaration.
const FURTHER: &str = "\
Fill in the line of documentation (it ends with a full stop), the syntax and the effect, then run
`cargo test -p fencepost-dialects`. Further files, where the op needs them:
  analysis/dialects/src/effect.rs   a new kind of effect, and its arm in analysis/lower/src/apply.rs
  analysis/dialects/src/facts.rs    a new kind of data movement, and its arm in runtime/src/cpu/host_ops.rs
  analysis/gluon/src/builtins/      the builtin that emits it
  tests/pages/                      a case that shows what is said of it";

/// Adds the skeleton.
pub fn run(root: &Path, name: &str) -> ExitCode {
    match add(root, name) {
        Ok(file) => {
            println!("{file}: {name} is declared\n{FURTHER}");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("new-op: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// Writes the skeleton; gives the file.
fn add(root: &Path, name: &str) -> Result<String, String> {
    let (dialect, op) = name.split_once('.').ok_or("an op is named `dialect.op`")?;
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '.';
    if !op.starts_with(|c: char| c.is_ascii_lowercase()) || !op.chars().all(word) {
        return Err(format!("`{op}` is no name of an op"));
    }
    let folder = root.join("analysis/dialects/src");
    let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        let text = fs::read_to_string(&path).unwrap_or_default();
        if let Some(text) = declared(&text, dialect, op)? {
            fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
            return Ok(path.strip_prefix(root).unwrap_or(&path).display().to_string());
        }
    }
    Err(format!("no file in {} declares a dialect `{dialect}`", folder.display()))
}

/// A dialect's file with a skeleton behind its last op; none if the file is not the dialect's.
fn declared(text: &str, dialect: &str, op: &str) -> Result<Option<String>, String> {
    let Some(head) = text.find(&format!(" = \"{dialect}\", fallback ")) else { return Ok(None) };
    let Some(end) = text[head..].find("\n}\n").map(|end| head + end + 1) else {
        return Err(format!("the end of `{dialect}` is not found"));
    };
    if text[head..end].contains(&format!(" = \"{op}\": ")) {
        return Err(format!("`{dialect}.{op}` is declared already"));
    }
    let mut variant = String::new();
    for part in op.split(['.', '_']) {
        let mut letters = part.chars();
        variant.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        variant.push_str(letters.as_str());
    }
    let skeleton = format!(
        "    /// What it does, in one line\n    \
         {variant} = \"{op}\": \"operands* | results* | ... |\" {{ effect: OpEffect::Unknown }};\n"
    );
    Ok(Some(format!("{}{skeleton}{}", &text[..end], &text[end..])))
}

#[cfg(test)]
mod tests {
    use super::declared;

    const FILE: &str = "\
dialect! {
    /// One.
    One = \"one\", fallback OpEffect::Pure;

    /// Waits.
    Wait = \"wait\": \"| | @ |\";
}

dialect! {
    /// Two.
    Two = \"two\", fallback OpEffect::Pure;

    /// Waits.
    Wait = \"wait\": \"| | @ |\";
}
";

    #[test]
    fn a_skeleton_goes_behind_the_last_op_of_its_dialect() {
        let text = declared(FILE, "one", "async_copy.start").ok().flatten().unwrap_or_default();
        let at = text.find("    AsyncCopyStart = \"async_copy.start\": ").unwrap_or(0);
        assert!(
            text.find("Wait").is_some_and(|wait| wait < at) && text.find("Two").is_some_and(|two| at < two),
            "{text}"
        );
    }

    #[test]
    fn what_cannot_be_added_is_said() {
        assert_eq!(declared(FILE, "three", "wait"), Ok(None));
        assert!(declared(FILE, "two", "wait").is_err_and(|problem| problem.contains("already")));
    }
}
