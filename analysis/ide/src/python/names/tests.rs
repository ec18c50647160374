//! Names by the lines where they stand.

use super::*;
use python::syntax::CurrentTree;
use python::syntax::Module;

/// The index, and for each binding its name with the lines where it stands.
fn lines(text: &str) -> Vec<String> {
    let module = Module::parse("f.py", text, None);
    let index = NameIndex::of(&CurrentTree::of(&module));
    let line = |range: TextRange| text[..range.start as usize].matches('\n').count() + 1;
    let places =
        |at: usize| -> Vec<usize> { index.places(BindingId(at as u32)).map(|place| line(place.range)).collect() };
    let mut all: Vec<String> =
        index.bindings.iter().enumerate().map(|(at, it)| format!("{} {:?}", it.name, places(at))).collect();
    all.sort();
    all
}

#[test]
fn names_mean_what_python_says() {
    let text = "\
import a.b as c
x = 1
class K:
    x = 2
    def m(self, y=x):
        return x + y
def f(x, *rest):
    global x2
    x2 = [x for x in rest if x]
    def g():
        nonlocal rest
        rest = lambda rest: (rest, x)
    return (n := x), n, x2
f(x=x2)
f[1](x=2)
";
    let expected = [
        "K [3]",
        "c [1]",
        "f [7, 14, 15]",
        "g [10]",
        "m [5]",
        "n [13, 13]",
        "rest [12, 12]",
        "rest [7, 9, 11, 12]",
        "self [5]",
        "x [2, 6]",
        "x [4, 5]",
        "x [7, 12, 13, 14, 15]",
        "x [9, 9, 9]",
        "x2 [8, 9, 13, 14]",
        "y [5, 6]",
    ];
    assert_eq!(lines(text), expected);
}

#[test]
fn what_is_broken_has_the_names_that_stand_there() {
    let text = "def f(first):\n    second = first\n    third = second.index(\n\ndef g(first):\n    return first\n";
    let found = lines(text);
    assert!(found.contains(&"second [2, 3]".to_owned()) && found.contains(&"first [5, 6]".to_owned()), "{found:?}");
    let before = Module::parse("f.py", "def f(a):\n    b = a\n    return b\n", None);
    let module = Module::parse("f.py", "def f(a):\n    b = a\n    return b + (a\n", Some(&before));
    let index = NameIndex::of(&CurrentTree::of(&module));
    let at = module.text().rfind("(a").map_or(0, |at| at as u32 + 1);
    let meant = index.at(at).and_then(|place| index.binding(place.binding)).map(|it| it.range.start);
    assert_eq!(meant, Some(6));
    assert!(index.mentions().iter().all(|place| (place.range.end as usize) <= module.text().len()));
}

#[test]
fn other_names_are_in_the_way() {
    let text = "x = 1\ndef f(a):\n    b = a\n    def g():\n        return a + x + len\n    return g, b\n";
    let module = Module::parse("f.py", text, None);
    let index = NameIndex::of(&CurrentTree::of(&module));
    let a = index.at(text.find("a)").map_or(0, |at| at as u32)).map(|place| place.binding);
    let conflict = |name: &str| a.and_then(|a| index.conflict(a, name)).map(|it| it.name.clone());
    // `x` and `len` would be captured, `b` is there already.
    for name in ["b", "x", "len", "g"] {
        assert_eq!(conflict(name).as_deref(), Some(name));
    }
    assert_eq!(conflict("free"), None);
    assert!(is_identifier("größe_1") && !is_identifier("1a") && !is_identifier("lambda") && !is_identifier(""));
}
