//! Debug.
fn main() {
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap();
        let t = std::time::Instant::now();
        let document = ttgir::Document::new(text.as_str());
        for section in document.sections() {
            print!("{path}\n{}", races::debug(section.tree()));
        }
        println!("   {:?}", t.elapsed());
    }
}
