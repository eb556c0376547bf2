//! TLS 1.3 between two ends that know each other's keys. There are no certificates and no
//! names: each end shows its public key, proves that it has the other half, and takes no
//! key but the one that its secret names.

use std::io;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{AlwaysResolvesClientRawPublicKeys, Resumption};
use rustls::crypto::{CryptoProvider, ring as provider, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{
    CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime,
};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{AlwaysResolvesServerRawPublicKeys, NoServerSessionStorage};
use rustls::sign::CertifiedKey;
use rustls::version::TLS13;
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, DistinguishedName,
    Error, ServerConfig, ServerConnection, SignatureScheme, StreamOwned,
};

use crate::line::{Line, Timed};
use crate::secret::{Secret, public};

/// What both ends must speak.
const PROTOCOL: &[u8] = b"memlog-gather";
/// An Ed25519 seed as PKCS #8, and a public key as SubjectPublicKeyInfo: DER that never
/// differs before the key (RFC 8410).
const PKCS8: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];
const SPKI: [u8; 12] = [
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
];

fn info(public: &[u8; 32]) -> Vec<u8> {
    [&SPKI[..], public].concat()
}

fn own_key(secret: &Secret) -> io::Result<Arc<CertifiedKey>> {
    let key = PrivatePkcs8KeyDer::from([&PKCS8[..], &secret.own].concat());
    let key = provider::sign::any_eddsa_type(&key).map_err(io::Error::other)?;
    let shown = CertificateDer::from(info(&public(&secret.own)?));
    Ok(Arc::new(CertifiedKey::new(vec![shown], key)))
}

/// Takes one key and no other.
#[derive(Debug)]
struct Pinned {
    info: Vec<u8>,
    provider: Arc<CryptoProvider>,
}

impl Pinned {
    fn check(&self, shown: &CertificateDer<'_>, more: &[CertificateDer<'_>]) -> Result<(), Error> {
        match shown.as_ref() == self.info && more.is_empty() {
            true => Ok(()),
            false => Err(CertificateError::UnknownIssuer.into()),
        }
    }

    fn check_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let info = SubjectPublicKeyInfoDer::from(shown.as_ref());
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature_with_raw_key(message, &info, signature, known)
    }
}

/// What is never spoken.
fn no_tls12() -> Result<HandshakeSignatureValid, Error> {
    Err(Error::General("only TLS 1.3 is spoken".into()))
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        more: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(shown, more)
            .map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        no_tls12()
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.check_signature(message, shown, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        shown: &CertificateDer<'_>,
        more: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(shown, more)
            .map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        no_tls12()
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.check_signature(message, shown, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

fn pinned(secret: &Secret) -> Arc<Pinned> {
    Arc::new(Pinned {
        info: info(&secret.other),
        provider: Arc::new(provider::default_provider()),
    })
}

/// How a receiver speaks.
pub fn receiver(secret: &Secret) -> io::Result<Arc<ServerConfig>> {
    let pinned = pinned(secret);
    let builder = ServerConfig::builder_with_provider(Arc::clone(&pinned.provider));
    let builder = builder.with_protocol_versions(&[&TLS13]);
    let builder = builder.map_err(io::Error::other)?;
    let keys = AlwaysResolvesServerRawPublicKeys::new(own_key(secret)?);
    let mut config = builder
        .with_client_cert_verifier(pinned)
        .with_cert_resolver(Arc::new(keys));
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    // A session is never taken up again: each proves its keys.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(Arc::new(config))
}

/// How a sender speaks.
pub fn sender(secret: &Secret) -> io::Result<Arc<ClientConfig>> {
    let pinned = pinned(secret);
    let builder = ClientConfig::builder_with_provider(Arc::clone(&pinned.provider));
    let builder = builder.with_protocol_versions(&[&TLS13]);
    let builder = builder.map_err(io::Error::other)?;
    let keys = AlwaysResolvesClientRawPublicKeys::new(own_key(secret)?);
    let mut config = builder
        .dangerous()
        .with_custom_certificate_verifier(pinned)
        .with_client_cert_resolver(Arc::new(keys));
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    config.resumption = Resumption::disabled();
    config.enable_sni = false;
    Ok(Arc::new(config))
}

impl Timed for StreamOwned<ClientConnection, Line> {
    fn set_deadline(&mut self, deadline: std::time::Instant) {
        self.sock.set_deadline(deadline);
    }
}

impl Timed for StreamOwned<ServerConnection, Line> {
    fn set_deadline(&mut self, deadline: std::time::Instant) {
        self.sock.set_deadline(deadline);
    }
}

/// A receiver's end of a line.
pub fn accept(config: &Arc<ServerConfig>, line: Line) -> io::Result<Box<dyn Timed>> {
    let connection = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
    let mut stream = StreamOwned::new(connection, line);
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock)?;
    }
    check(stream.conn.alpn_protocol())?;
    Ok(Box::new(stream))
}

/// A sender's end of a line.
pub fn connect(config: &Arc<ClientConfig>, line: Line) -> io::Result<Box<dyn Timed>> {
    let name = ServerName::try_from("memlog").map_err(io::Error::other)?;
    let connection = ClientConnection::new(Arc::clone(config), name).map_err(io::Error::other)?;
    let mut stream = StreamOwned::new(connection, line);
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock)?;
    }
    check(stream.conn.alpn_protocol())?;
    Ok(Box::new(stream))
}

fn check(protocol: Option<&[u8]>) -> io::Result<()> {
    match protocol == Some(PROTOCOL) {
        true => Ok(()),
        false => Err(io::Error::other("the other end speaks another protocol")),
    }
}

/// What is wrong with a connection, in words that say what to do.
pub fn explained(error: io::Error) -> io::Error {
    let inner = error.get_ref();
    let text = match inner.and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(Error::AlertReceived(_)) => "the other end does not know this secret",
        Some(Error::InvalidCertificate(_)) => "the other end has another secret",
        Some(_) => "the other end does not speak TLS with keys, as it does with --secret",
        None => return error,
    };
    io::Error::new(error.kind(), text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    use std::time::{Duration, Instant};

    fn secret(own: u8, other: u8) -> Secret {
        Secret {
            own: [own; 32],
            other: public(&[other; 32]).unwrap(),
        }
    }

    fn line(stream: UnixStream) -> Line {
        let input = stream.try_clone().unwrap();
        let mut line = Line::of(input.into(), stream.into()).unwrap();
        line.set_deadline(Instant::now() + Duration::from_secs(60));
        line
    }

    /// What came over a line between a receiver and a sender with these secrets.
    fn said(receiver_has: &Secret, sender_has: &Secret) -> (io::Result<Vec<u8>>, io::Result<()>) {
        let (one, other) = UnixStream::pair().unwrap();
        let config = receiver(receiver_has).unwrap();
        let hears = std::thread::spawn(move || {
            let mut stream = accept(&config, line(one))?;
            let mut bytes = [0; 5];
            stream.read_exact(&mut bytes)?;
            stream.write_all(b"heard")?;
            Ok(bytes.to_vec())
        });
        let config = sender(sender_has).unwrap();
        let says = || {
            let mut stream = connect(&config, line(other))?;
            // What it cannot say any more tells less than what it is told.
            let _ = stream.write_all(b"hello");
            stream.read_exact(&mut [0; 5])
        };
        let says = says();
        (hears.join().unwrap(), says)
    }

    #[test]
    fn who_has_the_keys_is_heard() {
        let (heard, says) = said(&secret(1, 2), &secret(2, 1));
        assert_eq!(heard.unwrap(), b"hello");
        says.unwrap();
    }

    #[test]
    fn who_has_others_is_not() {
        // The sender's, the receiver's, both.
        for (receiver_has, sender_has) in [
            (secret(1, 2), secret(3, 1)),
            (secret(1, 2), secret(2, 3)),
            (secret(1, 2), secret(4, 5)),
        ] {
            let (heard, says) = said(&receiver_has, &sender_has);
            assert!(heard.is_err());
            let error = says.unwrap_err();
            // Who was hung up on while he wrote may not have read why.
            let is_gone = matches!(
                error.kind(),
                io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset
            );
            let why = explained(error).to_string();
            assert!(is_gone || why.contains("secret"), "{why}");
        }
    }
}
