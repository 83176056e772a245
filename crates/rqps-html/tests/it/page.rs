//! What is packed in pages.

use std::io::Read as _;

/// What is packed in the page's element `id`.
pub(crate) fn packed(page: &str, id: &str) -> Option<serde_json::Value> {
    let (_, after) = page.split_once(&format!("<script id=\"{id}\" type=\"text/plain\">"))?;
    let text = unpacked(after.split_once("</script>")?.0);
    Some(serde_json::from_str(&text).unwrap())
}

/// The file that the page's link downloads as `name`.
pub(crate) fn file(page: &str, name: &str) -> Option<String> {
    let (_, after) =
        page.split_once(&format!("download=\"{name}\" href=\"data:application/gzip;base64,"))?;
    Some(unpacked(after.split_once('"')?.0))
}

fn unpacked(base64: &str) -> String {
    let bytes = decoded(base64);
    let mut text = String::new();
    flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
    text
}

/// The bytes that base64 stands for.
pub(crate) fn decoded(base64: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let letters: Vec<u8> = base64.bytes().filter(|c| *c != b'=').map(value).collect();
    let mut bytes = Vec::new();
    for chunk in letters.chunks(4) {
        let word =
            chunk.iter().fold(0_u32, |w, v| w << 6 | u32::from(*v)) << (6 * (4 - chunk.len()));
        bytes.extend(word.to_be_bytes()[1..chunk.len()].iter());
    }
    bytes
}
