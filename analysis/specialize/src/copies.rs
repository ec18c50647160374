//! Triton under other names: kernels of files that import it by way of others.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{Config, Memo, ParamUse, kernels};
use base::Cancel;
use gluon::elaborate;
use python::syntax::{Module, Sources};

/// Files by path; imports are looked up from the top.
#[derive(Debug)]
struct Folder(BTreeMap<&'static str, Arc<Module>>);

impl Folder {
    fn of(files: &[(&'static str, &str)]) -> Folder {
        Folder(files.iter().map(|(path, text)| (*path, Arc::new(Module::parse(*path, *text, None)))).collect())
    }
}

impl Sources for Folder {
    fn import(&self, from: &str, name: &str) -> Option<Arc<Module>> {
        let dots = name.bytes().take_while(|byte| *byte == b'.').count();
        let folder = from.rsplit('/').skip(dots).collect::<Vec<_>>();
        let folder: String = folder.iter().rev().map(|part| format!("{part}/")).collect();
        let base = if dots == 0 { String::new() } else { folder };
        let path = format!("{base}{}", name.trim_start_matches('.').replace('.', "/"));
        let path = path.trim_end_matches('/');
        let file = self.0.get(format!("{path}.py").as_str());
        file.or_else(|| self.0.get(format!("{path}/__init__.py").as_str())).cloned()
    }

    fn file(&self, _: &str, path: &str) -> Option<Arc<Module>> {
        self.0.get(path).cloned()
    }

    fn mentions(&self, _: &str) -> Vec<Arc<Module>> {
        Vec::new()
    }
}

const BODY: &str = "
@gluon.jit
def kernel(x, n):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    at = gl.program_id(0) * 128 + gl.arange(0, 128, layout)
    if n > 0:
        gl.store(x + at, gl.load(x + at))
    gl.allocate_shared_memory(gl.float16, [64, 64], gl.SwizzledSharedLayout(1, 1, 1, [1, 0]))
";

/// Asserts that the last kernel of `pkg/k.py` is found, that `x` is a pointer in it, and that all of it is followed.
fn is_followed(imports: &str, others: &[(&'static str, &str)]) {
    let text = format!("{imports}\n{BODY}");
    let mut files = vec![("pkg/k.py", text.as_str())];
    files.extend(others);
    let folder = Folder::of(&files);
    let Some(module) = folder.0.get("pkg/k.py").cloned() else { panic!("the file is there") };
    let found = kernels(&module, &folder, &Config::default(), &mut Memo::default(), &Cancel::never());
    let (entries, all): (Vec<_>, Vec<_>) =
        found.unwrap_or_else(|_| panic!("nobody cancels")).kernels.into_iter().unzip();
    assert_eq!(entries.len(), 1, "{imports}");
    assert_eq!(
        entries[0].params.iter().map(|param| param.used).collect::<Vec<_>>(),
        [ParamUse::Pointer, ParamUse::Scalar]
    );
    for instance in all.iter().flat_map(|all| &all.list) {
        let made = elaborate(&module, &folder, &instance.spec, &Cancel::never());
        let made = made.unwrap_or_else(|_| panic!("nobody cancels"));
        assert!(
            made.problems.is_empty() && made.unmodelled.is_empty(),
            "{imports}: {:?} {:?}",
            made.problems,
            made.unmodelled
        );
        assert!(made.ir.contains("ttg.local_alloc") && made.ir.contains("tt.get_program_id"), "{}", made.ir);
    }
}

#[test]
fn a_package_of_another_name() {
    is_followed(
        "from acme_triton.experimental import gluon\nfrom acme_triton.experimental.gluon import language as gl",
        &[],
    );
    is_followed("import acme_gpu.experimental.gluon as gluon\nimport acme_gpu.experimental.gluon.language as gl", &[]);
    is_followed("import acme_triton as t\ngluon = t.experimental.gluon\ngl = gluon.language", &[]);
}

#[test]
fn a_file_that_hands_names_on() {
    let direct = "import acme_triton as triton\nimport acme_triton.experimental.gluon.language as gl\n\
                  from acme_triton.experimental import gluon\n";
    is_followed("from pkg._triton import gl, gluon", &[("pkg/_triton.py", direct)]);
    is_followed("from ._triton import *", &[("pkg/_triton.py", direct)]);
    is_followed("from pkg import _triton as t\ngl, gluon = t.gl, t.gluon", &[("pkg/_triton.py", direct)]);
    let twice = [("pkg/_triton.py", direct), ("pkg/compat.py", "from ._triton import gl as lang, gluon\n")];
    is_followed("from pkg.compat import lang as gl\nfrom pkg.compat import gluon", &twice);
    let tried = "try:\n    from acme_triton.experimental import gluon\n    gl = gluon.language\n\
                 except ImportError:\n    gluon = None\n    gl = None\n";
    is_followed("from pkg._triton import gl, gluon", &[("pkg/_triton.py", tried)]);
    let by_name = "import importlib\n_t = importlib.import_module('acme_triton')\n\
                   gluon = _t.experimental.gluon\ngl = gluon.language\n";
    is_followed("from pkg._triton import gl, gluon", &[("pkg/_triton.py", by_name)]);
    let asked = "import acme_triton\ndef __getattr__(name):\n    if name == 'gluon':\n        \
                 return acme_triton.experimental.gluon\n    if name == 'gl':\n        \
                 return acme_triton.experimental.gluon.language\n    raise AttributeError(name)\n";
    is_followed("from pkg._triton import gl, gluon", &[("pkg/_triton.py", asked)]);
}

#[test]
fn names_that_lead_nowhere_are_known_by_what_is_asked_of_them() {
    is_followed("from acme_plugins import gl, gluon", &[]);
    let chosen = "import os, importlib\n_t = importlib.import_module(os.environ['TRITON_IMPL'])\n\
                  gluon = _t.experimental.gluon\ngl = gluon.language\n";
    is_followed("from pkg._triton import gl, gluon", &[("pkg/_triton.py", chosen)]);
}

#[test]
fn a_copy_of_triton_in_the_workspace_is_not_run() {
    let files = [
        ("pkg/vendor/triton/__init__.py", "raise ImportError('build me first')\n"),
        ("pkg/vendor/triton/language/core.py", ""),
        ("pkg/vendor/triton/experimental/gluon/__init__.py", "from . import language\n"),
    ];
    is_followed(
        "from .vendor.triton.experimental import gluon\nfrom .vendor.triton.experimental.gluon import language as gl",
        &files,
    );
}

#[test]
fn a_package_of_the_workspace_that_only_sounds_like_triton_is_followed() {
    let helpers = [("acme_triton/__init__.py", ""), ("acme_triton/testing.py", "OFFSET = 3\n")];
    let imports = "from triton.experimental import gluon\nfrom triton.experimental.gluon import language as gl\n\
                   from acme_triton.testing import OFFSET\nSIZE = 128 << OFFSET";
    is_followed(imports, &helpers);
    let text = format!("{imports}\n@gluon.jit\ndef kernel():\n    gl.static_assert(SIZE == 1024)\n");
    let mut files = vec![("pkg/k.py", text.as_str())];
    files.extend(helpers);
    let folder = Folder::of(&files);
    let Some(module) = folder.0.get("pkg/k.py").cloned() else { panic!("the file is there") };
    let all = kernels(&module, &folder, &Config::default(), &mut Memo::default(), &Cancel::never());
    let all = all.unwrap_or_else(|_| panic!("nobody cancels"));
    let made = elaborate(&module, &folder, &all.kernels[0].1.list[0].spec, &Cancel::never());
    let made = made.unwrap_or_else(|_| panic!("nobody cancels"));
    assert!(made.problems.is_empty() && made.unmodelled.is_empty(), "{:?} {:?}", made.problems, made.unmodelled);
}
