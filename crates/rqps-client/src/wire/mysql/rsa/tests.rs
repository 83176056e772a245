//! Encryption against a cipher that OpenSSL decrypts to the secret, and bad keys.

use proptest::prelude::*;

use super::*;

#[test]
fn openssl_reads_what_was_encrypted() {
    // Checked with `openssl pkeyutl -decrypt -pkeyopt rsa_padding_mode:oaep`.
    let cipher = encrypt(TEST_KEY.as_bytes(), b"secret\0", &[7; SEED]).unwrap();
    let hex: String = cipher.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(
        hex,
        "5ccf77d6e22f39b1b0571421ba95442ee7d7b7fedac405747719194bba7cf2c2\
         9c91cb8466ee0e4cf8dfad910728a206dff25498d734e9dc4ce25682809b5bf8\
         4788edb91f67e149654796eb29578d47c2b7080a8c7ec6a709219b1ba726b97f\
         92846744b50378fa83c55a749be8be8452f1c116b2b8bd180254c523903c69ab"
    );
}

#[test]
fn the_secret_must_fit() {
    let fits = vec![b'x'; 128 - 2 * SEED - 2];
    assert_eq!(encrypt(TEST_KEY.as_bytes(), &fits, &[0; SEED]).unwrap().len(), 128);
    let error = encrypt(TEST_KEY.as_bytes(), &[fits, vec![0]].concat(), &[0; SEED]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a password of 86 bytes is too long for the server's key of 1024 bits"
    );
}

#[test]
fn bad_keys_are_errors() {
    for bad in [
        "",
        "no PEM",
        "-----BEGIN PUBLIC KEY-----\nMIGf\n-----END PUBLIC KEY-----\n",
        "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n",
    ] {
        assert!(encrypt(bad.as_bytes(), b"x", &[0; SEED]).is_err(), "{bad:?}");
    }
}

proptest! {
    #[test]
    fn a_damaged_key_never_panics(at in 0_usize..162, bit in 0_u8..8) {
        let mut info = SubjectPublicKeyInfoDer::from_pem_slice(TEST_KEY.as_bytes())
            .unwrap()
            .to_vec();
        let last = info.len() - 1;
        info[at.min(last)] ^= 1 << bit;
        let _ = PublicKey::parse(&info);
        let _ = PublicKey::parse(&info[..at.min(last)]);
    }
}
