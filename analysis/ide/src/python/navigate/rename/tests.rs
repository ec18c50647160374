//! Renames of parameters: what is renamed along, and what is refused. `$` marks the cursor.

use crate::python::navigate::rename;
use crate::python::navigate::tests::files;

const HEAD: &str = "import functools\nimport triton\nimport triton.language as tl\n";
const KERNEL: &str = "@triton.jit\ndef k(x, n, $B: tl.constexpr):\n    tl.store(x + tl.arange(0, B), n)\n";

/// The text after `B` has become `S`, or why not.
fn renamed(texts: &[(&str, &str)]) -> Result<String, String> {
    let (files, module, cursor) = files(texts);
    let edits = rename(&module, cursor, "S", &files)?;
    let mut text = module.text().to_string();
    for (at, new) in edits.into_iter().rev() {
        text.replace_range(at.start as usize..at.end as usize, &new);
    }
    Ok(text)
}

/// Whether each `B` of the text has become `S`.
fn all(before: &str, after: &str) {
    let text = format!("{HEAD}{before}{KERNEL}{after}");
    let expected = text.replace('$', "").replace('B', "S");
    assert_eq!(renamed(&[("k.py", &text)]).as_deref(), Ok(expected.as_str()));
}

/// Whether all but what stands around the kernel has changed.
fn none(before: &str, after: &str) {
    let text = format!("{HEAD}{before}{KERNEL}{after}");
    let expected = format!("{HEAD}{before}{}{after}", KERNEL.replace('$', "").replace('B', "S"));
    assert_eq!(renamed(&[("k.py", &text)]).as_deref(), Ok(expected.as_str()));
}

fn refused(before: &str, after: &str) {
    let answer = renamed(&[("k.py", &format!("{HEAD}{before}{KERNEL}{after}"))]);
    assert!(answer.is_err(), "{before} {after}: {answer:?}");
}

#[test]
fn keywords_of_launches_are_renamed_along() {
    for launch in [
        "k[(1,)](1, n=2, B=64)\nk[(1,)](1, n=2, B=64)\nk[(1,)](1, B=3, n=3)\n",
        "fn = k\nfn[(1,)](1, 2, B=64)\n",
        "def other(B):\n    pass\nfn = k\nfn[(1,)](1, 2, B=64)\n".replace("(B)", "()").as_str(),
        "k.warmup(1, 2, B=64, grid=(1,))\nk.run(1, 2, B=64, grid=(1,), warmup=False)\n",
        "g = k[(1,)]\ng(1, 2, B=64)\n",
        "p = functools.partial(k[(1,)], B=64)\np(1, 2)\np(1, 2, B=3)\n",
        "k[(1,)](1, 2, **dict(B=64))\nk[(1,)](1, 2, **{'B': 3})\n",
        "kw = dict(B=64)\nkw['B'] = 5\nk[(1,)](1, 2, **kw)\n",
        "k[lambda meta: (meta['B'],)](1, 2, B=64)\n",
        "def launch(x):\n    grid = lambda META: (META['B'],)\n    k[grid](x, 2, B=64)\n",
        "def launch(x):\n    def grid(META):\n        return (META['B'],)\n    k[grid](x, 2, B=64)\n",
    ] {
        all("", launch);
    }
    for decorator in [
        "@triton.autotune([triton.Config(dict(B=64)), triton.Config({'B': 32})], key=['B'])\n",
        "@triton.heuristics(dict(B=lambda a: a['B']))\n",
        "@triton.heuristics({'B': lambda a: 2 * a['B']})\n",
        "CONFIGS = [triton.Config({'B': 64})]\n@triton.autotune(CONFIGS, key=[])\n",
        "def configs():\n    return [triton.Config({'B': b}) for b in (1, 2)]\n@triton.autotune(configs(), key=[])\n",
    ] {
        all(decorator, "k[(1,)](1, 2)\n");
    }
}

#[test]
fn what_is_of_others_is_left_alone() {
    none("", "print('B')\n");
    none("", "@pytest.mark.parametrize('B', [1])\ndef test_b(B):\n    k[(1,)](1, 2, 3)\n");
    none(
        "@triton.autotune([triton.Config({'B': 64})], key=['B'])\n@triton.jit\ndef j(x, B):\n    pass\n",
        "j[(1,)](1, B=2)\n",
    );
    none("", "def launch(x):\n    grid = lambda META: (META['B'],)\n    j[grid](x, B=64)\n    k[(1,)](x, 2, 64)\n");
    none("", "kw = {'mode': 'B'}\nk[(1,)](1, 2, 3, **kw)\n");
    none("", "def launch(x, B):\n    k[(1,)](x, 2, B)\nlaunch(1, B=2)\n");
}

#[test]
fn what_is_not_sure_is_refused() {
    refused("", "def launch(x, **kw):\n    k[(1,)](x, 2, **kw)\nlaunch(1, B=2)\n");
    refused("@triton.jit\ndef j(x, n, B):\n    pass\n", "fn = j if x else k\nfn[(1,)](1, 2, B=3)\n");
    refused("", "def launch(fn, **kw):\n    fn[(1,)](1, 2, **kw)\nlaunch(k, B=2)\n");
    refused("", "all = [k]\nfor it in all:\n    it[(1,)](1, 2, B=2)\n");
    refused(
        "CONFIGS = [triton.Config({'B': 64})]\n@triton.autotune(CONFIGS, key=[])\n@triton.jit\ndef j(B):\n    pass\n@triton.autotune(CONFIGS, key=[])\n",
        "",
    );
    refused("", "def launch(x, grid):\n    k[grid](x, 2, B=64)\nlaunch(1, lambda meta: (meta['B'],))\n");
    refused("class T:\n    C = [triton.Config({'B': 64})]\n@triton.autotune(T.C, key=[])\n", "");
    refused("from tuned import configs\n@triton.autotune(configs(), key=[])\n", "k[(1,)](1, 2)\n");
    refused("@pytest.mark.parametrize('n, B', [(1, 2)])\n", "");
    refused(
        "",
        "def launch(x):\n    grid = lambda META: (META['B'],)\n    k[grid](x, 2, B=64)\n    j[grid](x)\n\ndef j(x):\n    pass\n",
    );
}

#[test]
fn other_files_count_where_they_have_the_function() {
    let own = format!("{HEAD}{KERNEL}");
    let with = |other: &str| renamed(&[("k.py", &own), ("other.py", other)]);
    assert!(with("from k import k\nk[(1,)](1, B=2)\n").is_err());
    assert!(with("import k as m\nm.k[(1,)](1, B=2)\n").is_err());
    assert!(with("from somewhere.k import k\nk[(1,)](1, B=2)\n").is_err());
    assert!(with("def k(B):\n    pass\nk(B=2)\n").is_ok());
    assert!(with("from k import k\nk[(1,)](1, 2, 3)\n").is_ok());
}

#[test]
fn type_parameters_and_lambdas_are_renamed_whole() {
    let text = "def f[$B](x: B, y=1) -> B:\n    return x\n";
    assert_eq!(renamed(&[("k.py", text)]), Ok("def f[S](x: S, y=1) -> S:\n    return x\n".to_owned()));
    for text in [
        "f = lambda $B, b=1: B + b\nf(B=1)\n",
        "class $B:\n    pass\ndef g(x: 'B', y: 'list[B]') -> \"dict[Bs, B]\":\n    return B()\n",
    ] {
        let expected = text.replace('$', "").replace("Bs", "?").replace('B', "S").replace('?', "Bs");
        assert_eq!(renamed(&[("k.py", text)]), Ok(expected));
    }
}
