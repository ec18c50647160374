use std::sync::Arc;

use super::parts;
use crate::{Config, FileKernels, Memo, kernels_telling};
use base::Cancel;
use base::workers::{OneByOne, Workers};
use python::syntax::{Module, NoSources};

/// Begins with the last task.
#[derive(Debug)]
struct Backwards;

impl Workers for Backwards {
    fn each(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        (0..count).rev().for_each(task);
    }
}

fn found(text: &str, workers: &dyn Workers) -> FileKernels {
    let head = "from triton.experimental import gluon\nfrom triton.experimental.gluon import language as gl\n\n\
                @gluon.jit\ndef kernel(out, N: gl.constexpr):\n    gl.store(out, N)\n\n";
    let module = Arc::new(Module::parse("k.py", format!("{head}{text}"), None));
    let (config, mut memo, cancel) = (Config::default(), Memo::default(), Cancel::never());
    kernels_telling(&module, &NoSources, &config, &mut memo, workers, &cancel, &mut |_, _, _| Ok(()))
        .unwrap_or_default()
}

fn labels(found: &FileKernels) -> Vec<&str> {
    found.kernels.iter().flat_map(|(_, of)| &of.list).map(|instance| instance.label.as_str()).collect()
}

#[test]
fn main_programs_are_one_part_and_functions_are_many() {
    let defs: Vec<u32> = (0..20).collect();
    let some = parts(&defs, &[5, 6]);
    assert_eq!(some[1], [3, 4]);
    assert_eq!(some[2], [5, 6]);
    assert_eq!(some.concat(), defs);
    assert_eq!(parts(&[7, 8], &[]), [[7], [8]]);
}

#[test]
fn what_is_launched_does_not_depend_on_the_order_in_which_functions_are_run() {
    let tests: String = (0..20)
        .map(|at| format!("def test_{at}():\n    kernel[(1,)](torch.empty(4, device='cuda'), N={})\n\n", at % 5))
        .collect();
    let wrapper = "def wrapper(flag, n):\n    if flag:\n        kernel[(1,)](torch.empty(n), N=7)\n    \
                   else:\n        kernel[(2,)](torch.empty(n), N=8)\n";
    let text = format!("import torch\n\n{tests}{wrapper}");
    let forwards = found(&text, &OneByOne);
    assert_eq!(labels(&forwards), ["N=0", "N=1", "N=2", "N=3", "N=4", "N=7", "N=8"]);
    assert_eq!(forwards, found(&text, &Backwards));
}

#[test]
fn main_programs_see_the_variables_of_those_before() {
    let text = "import torch\nif __name__ == '__main__':\n    N = 3\n    kernel[(1,)](torch.empty(4), N=N)\n\n\
                if __name__ == '__main__':\n    kernel[(1,)](torch.empty(4), N=N + 1)\n";
    assert_eq!(labels(&found(text, &Backwards)), ["N=3", "N=4"]);
}

#[test]
fn the_last_functions_of_a_long_file_are_run_too() {
    let text = "import pytest\nimport torch\n\n@gluon.jit\ndef other(out, N: gl.constexpr):\n    gl.store(out, N)\n\n\
                @pytest.mark.parametrize('case', list(range(32)))\ndef test_long(case):\n    total = 0\n    \
                for at in range(4000):\n        total = total + at\n    kernel[(1,)](torch.empty(4), N=case)\n\n\
                def test_last():\n    other[(1,)](torch.empty(4), N=12345)\n";
    let all = found(text, &OneByOne);
    let given = |name: &str| {
        let of = all.kernels.iter().find(|(entry, _)| entry.name == name);
        of.map(|(_, found)| found.list.iter().map(|instance| instance.directive.clone()).collect::<Vec<_>>())
    };
    assert_eq!(given("other").unwrap_or_default(), ["# fencepost: out=*fp32, N=12345, target=sm_90"]);
    let notes = all.kernels.iter().flat_map(|(_, found)| &found.notes);
    let notes: Vec<&str> = notes.map(|note| note.message.as_str()).collect();
    assert!(notes.iter().any(|note| note.starts_with("of 32 calls that `test_long` is tested with, ")), "{notes:?}");
}
