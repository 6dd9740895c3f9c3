"""Workers that come and go during a job, and encrypted connections."""

from __future__ import annotations

import datetime
import ipaddress
import time

import dask
import numpy as np
import pytest
from dask_processes import Reacting
from distributed import Client, LocalCluster

from manylabel import NeighborIndex
from manylabel.distributed import connect, use
from manylabel.exceptions import ClusterError

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def local(n_workers, **options):
    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=False,
        dashboard_address=None,
        memory_limit=0,
        **options,
    )


def test_workers_come_and_go_in_the_middle(problem, monkeypatch):
    """A new worker gets work; one that leaves finishes its task; nothing is lost or done twice."""
    monkeypatch.setattr("manylabel.neighbors.index.TASK", 10)
    monkeypatch.setattr("manylabel.distributed.tasks._argument", _slowly)
    X = problem[0]
    expected = NeighborIndex(X).search_self(5)
    with local(1) as machines, Client(machines, set_as_default=False) as client:
        first = next(iter(client.nthreads()))

        def change():
            if len(client.nthreads()) == 1:
                machines.scale(2)
                client.wait_for_workers(2, timeout=60)
            else:
                client.retire_workers([first])

        with use(client, "dask", max_tasks=40) as cluster:
            cluster.receipts = Reacting({3, 15}, change)
            found = NeighborIndex(X).search_self(5)
            workers = [receipt.worker for receipt in cluster.receipts]
        assert len(workers) == 40
        assert len(set(workers)) >= 2
        assert workers[-1] != first
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.similarities, expected.similarities)


def _slowly(given):
    from manylabel.distributed.tasks import _opened

    time.sleep(0.02)
    if isinstance(given, tuple):
        return tuple(map(_slowly, given))
    return _opened(given) if hasattr(given, "parent") else given


@pytest.fixture
def certificate(tmp_path):
    """A certificate that signs itself, and its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "cluster")])
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .sign(key, hashes.SHA256())
    )
    (tmp_path / "cert.pem").write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    (tmp_path / "key.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")


def test_connections_may_be_encrypted(problem, certificate):
    cert, key = certificate
    settings = {"distributed.comm.tls.ca-file": cert, "distributed.comm.require-encryption": True}
    for role in ("scheduler", "worker", "client"):
        settings[f"distributed.comm.tls.{role}.cert"] = cert
        settings[f"distributed.comm.tls.{role}.key"] = key
    X = problem[0]
    expected = NeighborIndex(X).search_self(5)
    with dask.config.set(settings), local(1, protocol="tls://", host="127.0.0.1") as machines:
        address = machines.scheduler_address
        assert address.startswith("tls://")
        with connect(address, "dask") as cluster:
            found = NeighborIndex(X).search_self(5)
            assert all(receipt.worker.startswith("tls://") for receipt in cluster.receipts)
            assert cluster.receipts
        # Without a certificate of its own, a client gets no answer.
        with (
            dask.config.set(
                {f"distributed.comm.tls.client.{name}": None for name in ("cert", "key")}
            ),
            pytest.raises(ClusterError, match=r"at tls://.* requires an encrypted connection; set"),
        ):
            connect(address).__enter__()
    np.testing.assert_array_equal(found.indices, expected.indices)
