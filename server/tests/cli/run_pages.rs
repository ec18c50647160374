//! The kernels of `tests/runs/elaborated/`, each run by its recipe where no Triton is installed. Comments on top of a file
//! say what comes of it: `exit N` (0 where nothing is said), `says TEXT`, `NAME = VALUES` what an output begins with,
//! `NAME is DESCR` NumPy's type of it, `args OPTIONS` what else is on the command line. None names a value of the IR.

use std::path::Path;

use runtime::launch::npy;

use crate::support::{fencepost, root};

#[test]
fn kernels_without_triton() {
    let folder = root().join("tests/runs/elaborated");
    let mut files: Vec<_> = std::fs::read_dir(&folder).expect("the folder").flatten().map(|it| it.path()).collect();
    files.sort();
    let wrong: Vec<String> = files.iter().flat_map(|file| problems(file)).collect();
    assert!(files.len() > 10 && wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is not as a file says.
fn problems(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).expect("the file");
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let out = std::env::temp_dir().join(format!("fencepost-run-pages-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&out).expect("a folder");
    let zeros = tensors::array::Array { dtype: tensors::array::ElemType::F32, shape: vec![128], bytes: vec![0; 512] };
    npy::save(&out.join("zeros.npy"), &zeros).expect("a file");
    let said: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("# ")).collect();
    let path = file.to_string_lossy().into_owned();
    let folder = out.to_string_lossy().into_owned();
    let mut args = vec!["run".to_owned(), path, "--python".to_owned(), "/no/such/python".to_owned()];
    args.extend(["-o".to_owned(), folder.clone()]);
    let more = said.iter().filter_map(|line| line.strip_prefix("args "));
    args.extend(
        more.flat_map(|more| more.split(' ')).map(|word| word.replace("=zeros.npy", &format!("={folder}/zeros.npy"))),
    );
    let ran = fencepost(&args.iter().map(String::as_str).collect::<Vec<_>>());
    let all = format!("{}{}", ran.stdout, ran.stderr);
    let mut wrong = Vec::new();
    let code = said.iter().find_map(|line| line.strip_prefix("exit ")).unwrap_or("0");
    if ran.code.to_string() != code {
        wrong.push(format!("{name}: exit {} and not {code}\n{all}", ran.code));
    }
    if all.contains("`%") {
        wrong.push(format!("{name}: names a value of the IR\n{all}"));
    }
    for line in &said {
        if let Some(text) = line.strip_prefix("says ")
            && !all.contains(text)
        {
            wrong.push(format!("{name}: does not say `{text}`\n{all}"));
        }
        let of_output = |(output, _): &(&str, &str)| !output.contains(' ') && *output != "says";
        if let Some((output, descr)) = line.split_once(" is ").filter(of_output) {
            let bytes = std::fs::read(out.join(format!("{output}.npy"))).unwrap_or_default();
            if !String::from_utf8_lossy(bytes.get(..80).unwrap_or(&[])).contains(descr) {
                wrong.push(format!("{name}: `{output}` is not {descr}"));
            }
        }
        if let Some((output, values)) = line.split_once(" = ").filter(|(output, _)| !output.contains(' ')) {
            let array = npy::load(&out.join(format!("{output}.npy")), None, None);
            let got: Vec<String> = array
                .iter()
                .flat_map(runtime::element::numbers)
                .map(|value| value.to_string().to_lowercase())
                .collect();
            let wanted: Vec<&str> = values.split(' ').collect();
            let same = match wanted.as_slice() {
                [all] => !got.is_empty() && got.iter().all(|value| value == all),
                start => got.iter().zip(start).all(|(value, wanted)| value == wanted) && got.len() >= start.len(),
            };
            if !same {
                wrong.push(format!("{name}: `{output}` is {:?}, not {values}", got.get(..got.len().min(8))));
            }
        }
    }
    let _ = std::fs::remove_dir_all(&out);
    wrong
}
