//! Files as Python's own modules write them, and files of our own read back.

use super::*;
use crate::element::numbers;

/// Two deflated members, made with Python's `zipfile`.
const DEFLATED: &[u8] = include_bytes!("../../../tests/data/deflated.npz");

fn file(descr: &str, order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend_from_slice(&(text.len() as u16).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
    out.extend_from_slice(data);
    out
}

fn read(bytes: &[u8], wanted: Option<ElemType>) -> (Option<ElemType>, Vec<u64>, Vec<f64>) {
    match parse(bytes, wanted) {
        Ok(array) => (Some(array.dtype), array.shape.clone(), numbers(&array).collect()),
        Err(why) => panic!("{why}"),
    }
}

#[test]
fn types_orders_and_shapes() {
    let floats: Vec<u8> = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0].iter().flat_map(|it| it.to_le_bytes()).collect();
    let (dtype, shape, values) = read(&file("<f4", "False", "(2, 3)", &floats), None);
    assert_eq!((dtype, shape, values), (Some(ElemType::F32), vec![2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    let (_, shape, values) = read(&file("<f4", "True", "(2, 3)", &floats), None);
    assert_eq!((shape, values), (vec![2, 3], vec![1.0, 3.0, 5.0, 2.0, 4.0, 6.0]));
    let (_, shape, values) = read(&file(">i2", "False", "(2,)", &[0x01, 0x00, 0xff, 0xfe]), None);
    assert_eq!((shape, values), (vec![2], vec![256.0, -2.0]));
    assert_eq!(read(&file("|b1", "False", "()", &[1]), None), (Some(ElemType::I1), vec![], vec![1.0]));
}

#[test]
fn types_that_are_wanted() {
    let ones = file("|u1", "False", "(2,)", &[0x38, 0xff]);
    assert_eq!(read(&ones, Some(ElemType::F8E4M3FN)).2.first(), Some(&1.0), "bytes of a type that NumPy lacks");
    assert_eq!(read(&ones, Some(ElemType::F32)).2, [56.0, 255.0], "numbers of another type");
    assert_eq!(read(&ones, Some(ElemType::I32)).2, [56.0, 255.0]);
    let raw = file("|V2", "False", "(1,)", &[0x80, 0x3f]);
    assert_eq!(read(&raw, None), (Some(ElemType::BF16), vec![1], vec![1.0]));
    let long = file("<i8", "False", "(1,)", &i64::MIN.to_le_bytes());
    assert_eq!(parse(&long, Some(ElemType::I64)).map(|array| array.bytes), Ok(i64::MIN.to_le_bytes().to_vec()));
}

#[test]
fn what_cannot_be_read_is_said() {
    let errors = [
        (b"no".to_vec(), "`.npy`"),
        (file("<f4", "False", "(2, 3)", &[0; 8]), "too early"),
        (file("<c8", "False", "(2,)", &[0; 16]), "`<c8`"),
        (file("<f4", "False", "(18446744073709551615, 2)", &[0; 8]), "too early"),
        (b"\x93NUMPY\x09\x00\x00\x00".to_vec(), "version 9"),
    ];
    for (bytes, word) in errors {
        assert!(parse(&bytes, None).is_err_and(|why| why.contains(word)), "{word}");
    }
}

#[test]
fn deflated_archives() {
    assert_eq!(archive::names(DEFLATED), Ok(vec!["small".to_owned(), "long".to_owned()]));
    let long = archive::member(DEFLATED, Some("long")).and_then(|bytes| parse(&bytes, None));
    let expected: Vec<f64> =
        (0..400).map(|at| if at % 3 == 0 { at / 7 } else { at * at % 251 }).map(f64::from).collect();
    assert_eq!(long.map(|array| numbers(&array).collect::<Vec<_>>()), Ok(expected));
    assert!(archive::member(DEFLATED, None).is_err_and(|why| why.contains("`small`, `long`")));
    for cut in 0..DEFLATED.len() {
        assert!(archive::names(&DEFLATED[..cut]).is_err());
    }
    for at in 0..DEFLATED.len() {
        let mut damaged = DEFLATED.to_vec();
        damaged[at] ^= 0x55;
        let _ = archive::member(&damaged, Some("long")).and_then(|bytes| parse(&bytes, None));
    }
}

#[test]
fn what_is_written_is_read_back() {
    let folder = std::env::temp_dir().join(format!("fencepost-npy-{}", std::process::id()));
    assert!(fs::create_dir_all(&folder).is_ok());
    let ints = Array { dtype: ElemType::I32, shape: vec![2, 1], bytes: vec![1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff] };
    let brain = Array { dtype: ElemType::BF16, shape: vec![2], bytes: vec![0x80, 0x3f, 0x49, 0xc0] };
    let one = folder.join("one.npy");
    assert!(save(&one, &ints).is_ok());
    assert_eq!(peek(&one, None), Ok((ElemType::I32, false, vec![2, 1])));
    assert_eq!(load(&one, None, None), Ok(ints.clone()));
    assert!(load(&one, Some("x"), None).is_err());
    let all = folder.join("all.npz");
    assert!(save_all(&all, &[("a".to_owned(), ints.clone()), ("b".to_owned(), brain.clone())]).is_ok());
    assert_eq!(load(&all, Some("b"), Some(ElemType::BF16)), Ok(brain));
    assert_eq!(peek(&all, Some("b")), Ok((ElemType::F32, false, vec![2])));
    assert_eq!(load_all(&all).map(|arrays| arrays.len()), Ok(2));
    assert!(load(&folder.join("none.npy"), None, None).is_err_and(|why| why.contains("none.npy")));
    let _ = fs::remove_dir_all(folder);
}
