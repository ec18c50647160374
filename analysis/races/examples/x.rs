use base::Cancel;
fn main() {
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap();
        let document = ttgir::Document::new(text.as_str());
        for section in document.sections() {
            let start = std::time::Instant::now();
            let all = races::races(section.tree(), &[], &Cancel::never()).unwrap();
            for global in all {
                println!("{path} {} {:?} {:?} races {} {:?} {:?}", global.kernel, start.elapsed(), global.status, global.races.len(), global.assumed, global.reasons);
            }
        }
    }
}
