"""Certificates and node keys for a trial."""

import ipaddress
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from fedrank._files import whole_folder, write_whole
from fedrank.exceptions import MissingExtraError

try:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
except ImportError as error:
    raise MissingExtraError(
        f"keys need Flower's libraries ({error}): pip install 'fedrank[flower]'"
    ) from None

VALID_DAYS = 30  # of the certificates


def write_keys(folder: Path, hosts: Sequence[str], nodes: int) -> None:
    """Make a certificate authority, a server certificate, and a key for every node.

    For a trial: the holder of the folder can act as any party. The authority's own key is not kept,
    so that nothing more can be signed with it.

    Parameters
    ----------
    folder : pathlib.Path
        Where to write them; must not exist yet.
    hosts : sequence of str
        Names and addresses of the SuperLink; ``localhost`` is always among them.
    nodes : int
        How many nodes.

    Raises
    ------
    ValueError
        If the folder exists.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "keys"
    >>> write_keys(folder, ["superlink.example.org"], nodes=2)
    >>> sorted(file.name for file in folder.rglob("*.*"))
    ['0.key', '0.pub', '1.key', '1.pub', 'ca.crt', 'server.crt', 'server.key']
    """
    authority, server = new_key(), new_key()
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "fedrank trial authority")])
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "fedrank trial SuperLink")])
    root = (
        certificate(issuer, issuer, authority.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage(signs=True), critical=True)
        .add_extension(
            x509.SubjectKeyIdentifier.from_public_key(authority.public_key()), critical=False
        )
        .sign(authority, hashes.SHA384())
    )
    names = [general_name(host) for host in dict.fromkeys([*hosts, "localhost", "127.0.0.1"])]
    leaf = (
        certificate(subject, issuer, server.public_key())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(usage(signs=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key()),
            critical=False,
        )
        .sign(authority, hashes.SHA384())
    )
    pem = serialization.Encoding.PEM
    secret = private(server, serialization.PrivateFormat.PKCS8)
    with whole_folder(folder, mode=0o700) as part:
        write_whole(part / "ca.crt", root.public_bytes(pem))
        write_whole(part / "server.crt", leaf.public_bytes(pem))
        write_whole(part / "server.key", secret, mode=0o600)
        (part / "nodes").mkdir(mode=0o700)
        for node in range(nodes):
            key = new_key()
            ssh = private(key, serialization.PrivateFormat.OpenSSH)
            public = key.public_key().public_bytes(
                serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
            )
            write_whole(part / "nodes" / f"{node}.key", ssh, mode=0o600)
            write_whole(part / "nodes" / f"{node}.pub", public + b"\n")


def new_key() -> ec.EllipticCurvePrivateKey:
    """Draw a key on the curve that Flower asks for."""
    return ec.generate_private_key(ec.SECP384R1())


def private(key: ec.EllipticCurvePrivateKey, layout: serialization.PrivateFormat) -> bytes:
    """Write a private key, in the clear: Flower reads no other."""
    return key.private_bytes(serialization.Encoding.PEM, layout, serialization.NoEncryption())


def certificate(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    """Begin a certificate that holds from now."""
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))  # clocks differ
        .not_valid_after(now + timedelta(days=VALID_DAYS))
    )


def usage(signs: bool) -> x509.KeyUsage:
    """Say that a key signs certificates, or proves a server."""
    return x509.KeyUsage(
        digital_signature=not signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )


def general_name(host: str) -> x509.GeneralName:
    """Name a host, or an address."""
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
