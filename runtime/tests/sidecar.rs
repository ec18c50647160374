//! The process that compiles, with whatever Python is here.
//!
//! What needs Triton runs where `FENCEPOST_PYTHON` (or `python3`) has it, and says so where it has not.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base::Cancel;
use runtime::sidecar::{CompileRequest, KernelRequest, Sidecar, SidecarError};

const PATIENCE: Duration = Duration::from_secs(120);

const KERNEL: &str = r#"
print("printed while it is imported")
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma

DEPTH = 2

@gluon.jit
def load_tile(desc, out, row, STAGES: gl.constexpr, SKEW: gl.constexpr = 1):
    tile = gl.allocate_shared_memory(desc.dtype, [STAGES] + desc.block_shape, desc.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    mbarrier.expect(bar, desc.block_type.nbytes)
    tma.async_load(desc, [row, 0], bar, tile.index(SKEW))
    mbarrier.wait(bar, 0)
"#;

fn python() -> PathBuf {
    std::env::var_os("FENCEPOST_PYTHON").unwrap_or_else(|| "python3".into()).into()
}

/// A process, or the reason why what needs one is skipped.
fn start() -> Result<Sidecar, String> {
    Sidecar::start(&python(), PATIENCE, &Cancel::never()).map_err(|error| error.to_string())
}

/// Says so past the harness' capture: `cargo xtask test` gathers these lines.
fn skip(why: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: compiling with Triton: {why}");
}

fn save(name: &str, text: &str) -> std::io::Result<String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sidecar");
    fs::create_dir_all(&folder)?;
    let path = folder.join(name);
    fs::write(&path, text)?;
    Ok(path.display().to_string())
}

fn request(file: String, kernel: &str, stages: &str) -> CompileRequest {
    let pairs = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
    };
    let kernel = KernelRequest {
        name: kernel.to_owned(),
        signature: pairs(&[("desc", "tensordesc<fp16[64, 64]>"), ("out", "*fp16"), ("row", "i32:16")]),
        constexprs: pairs(&[("STAGES", stages)]),
        target: "sm_90".to_owned(),
        num_warps: 4,
        num_ctas: 1,
    };
    CompileRequest { file, kernels: vec![kernel] }
}

#[test]
fn a_python_that_is_not_there_is_said() {
    let error = Sidecar::start(Path::new("no-such-python"), PATIENCE, &Cancel::never()).map(drop);
    assert!(matches!(error, Err(SidecarError::Start(_))), "{error:?}");
}

#[test]
fn a_program_that_is_no_python_is_said() {
    // It takes `-u -c PROGRAM` for nothing it knows, and ends.
    let error = Sidecar::start(Path::new("false"), PATIENCE, &Cancel::never()).map(drop);
    assert!(matches!(error, Err(SidecarError::Ended(_) | SidecarError::Start(_))), "{error:?}");
}

#[test]
fn a_kernel_is_compiled_with_its_constants() -> std::io::Result<()> {
    let mut sidecar = match start() {
        Ok(sidecar) => sidecar,
        Err(why) => {
            skip(&why);
            return Ok(());
        }
    };
    let file = save("tile.py", KERNEL)?;
    for (stages, depth) in [("DEPTH", 2), ("3", 3)] {
        let compiled = sidecar.compile(&request(file.clone(), "load_tile", stages), PATIENCE, &Cancel::never());
        let text = compiled.ok().and_then(|mut all| all.pop()).and_then(|one| one.ttgir).unwrap_or_default();
        assert!(text.contains(&format!("!ttg.memdesc<{depth}x64x64xf16")), "{text}");
        assert!(text.contains("tile.py"), "it has locations");
    }
    Ok(())
}

#[test]
fn what_goes_wrong_is_said_and_the_process_stays() -> std::io::Result<()> {
    let mut sidecar = match start() {
        Ok(sidecar) => sidecar,
        Err(why) => {
            skip(&why);
            return Ok(());
        }
    };
    let file = save("broken.py", "import no_such_module\n")?;
    let error = sidecar.compile(&request(file, "load_tile", "2"), PATIENCE, &Cancel::never());
    assert!(matches!(&error, Err(SidecarError::File(why)) if why.contains("no_such_module")), "{error:?}");
    let file = save("exits.py", "import sys\nsys.exit(3)\n")?;
    let error = sidecar.compile(&request(file, "load_tile", "2"), PATIENCE, &Cancel::never());
    assert!(matches!(error, Err(SidecarError::File(_))), "{error:?}");
    let file = save("other.py", KERNEL)?;
    for (kernel, stages) in [("nothing", "2"), ("load_tile", "no_such_name"), ("load_tile", "1")] {
        let answer = sidecar.compile(&request(file.clone(), kernel, stages), PATIENCE, &Cancel::never());
        let error = answer.ok().and_then(|mut all| all.pop()).and_then(|one| one.error);
        // A ring of one slot has no slot 1, but that Triton does not say.
        assert_eq!(error.is_some(), stages != "1", "{kernel} {stages}: {error:?}");
    }
    Ok(())
}
