//! The content security policy of a page: no request, no style and no script but those that it names by hash,
//! and no style in an attribute.

use sha2::{Digest as _, Sha256};

use super::packed::base64;

/// The policy for a page with this style in one element, and with these scripts; each as it stands between its tags.
pub(crate) fn render(style: &str, scripts: &[&str]) -> String {
    let hashes: Vec<String> = scripts.iter().map(|script| hash(script)).collect();
    let scripts = if hashes.is_empty() { "'none'".to_owned() } else { hashes.join(" ") };
    let style = hash(style);
    format!(
        "default-src 'none'; style-src {style}; script-src {scripts}; \
         base-uri 'none'; form-action 'none'"
    )
}

/// `'sha256-…'` of a style or a script, as policies have it.
pub(super) fn hash(text: &str) -> String {
    let mut digest = [0_u8; 32];
    digest.copy_from_slice(&Sha256::digest(text.as_bytes()));
    format!("'sha256-{}'", base64(&digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_and_scripts_are_named_by_their_hashes() {
        // `printf 'alert(1)' | openssl dgst -sha256 -binary | base64`
        let known = "'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='";
        let policy = render("p {}", &["alert(1)"]);
        assert!(policy.contains(&format!("; script-src {known}; ")), "{policy}");
        let policy = render("alert(1)", &[]);
        assert!(policy.contains(&format!("; style-src {known}; script-src 'none'; ")), "{policy}");
        assert!(!policy.contains("'unsafe"), "{policy}");
    }
}
