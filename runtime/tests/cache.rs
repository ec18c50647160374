//! Triton's cache, as files.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use runtime::cache::{KernelCache, folder};

fn empty(name: &str) -> std::io::Result<PathBuf> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path)?;
    Ok(path)
}

#[test]
fn kernels_are_found_by_name() -> std::io::Result<()> {
    let cache = empty("cache")?;
    for (key, kernel) in [("AAA", "copy"), ("BBB", "copy"), ("CCC", "gemm")] {
        fs::create_dir_all(cache.join(key))?;
        fs::write(cache.join(key).join(format!("{kernel}.ttgir")), format!("module {{}} // {key}"))?;
    }
    fs::write(cache.join("CCC").join("gemm.json"), "{\"num_warps\": 4}")?;
    fs::write(cache.join("stray"), "")?;
    let listed = KernelCache::list(&cache)?;
    assert_eq!(listed.kernels("copy").len(), 2);
    assert!(listed.kernels("nothing").is_empty());
    let gemm = listed.kernels("gemm")[0].read()?;
    assert_eq!((gemm.ttgir.as_str(), gemm.options.as_str()), ("module {} // CCC", "{\"num_warps\": 4}"));
    assert_eq!(listed.kernels("copy")[0].read()?.options, "");
    Ok(())
}

#[test]
fn a_cache_that_is_not_there_is_empty() -> std::io::Result<()> {
    let listed = KernelCache::list(&empty("none")?.join("nowhere"))?;
    assert!(listed.kernels("copy").is_empty() && !listed.cut);
    Ok(())
}

#[test]
fn the_environment_says_where_it_is() {
    let of = |vars: &'static [(&str, &str)]| {
        folder(move |name| vars.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value)))
    };
    assert_eq!(of(&[("TRITON_CACHE_DIR", "/c"), ("HOME", "/h")]), Some("/c".into()));
    assert_eq!(of(&[("HOME", "/h")]), Some(Path::new("/h").join(".triton").join("cache")));
    assert_eq!(of(&[]), None);
}
