//! The content security policy of a page: no request, and no script but those that it names by hash.

use sha2::{Digest as _, Sha256};

use super::packed::base64;

/// The policy for a page with these scripts.
pub(crate) fn of(scripts: &[&str]) -> String {
    let hashes: Vec<String> = scripts.iter().map(|script| hash(script)).collect();
    let scripts = if hashes.is_empty() { "'none'".to_owned() } else { hashes.join(" ") };
    format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src {scripts}; \
         base-uri 'none'; form-action 'none'"
    )
}

/// `'sha256-…'` of a script, as policies have it.
fn hash(script: &str) -> String {
    let mut digest = [0_u8; 32];
    digest.copy_from_slice(&Sha256::digest(script.as_bytes()));
    format!("'sha256-{}'", base64(&digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_named_by_its_hash() {
        // `printf 'alert(1)' | openssl dgst -sha256 -binary | base64`
        let policy = of(&["alert(1)"]);
        let wanted = "script-src 'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='";
        assert!(policy.contains(wanted), "{policy}");
        assert!(of(&[]).contains("script-src 'none'"));
    }
}
