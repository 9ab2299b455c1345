//! A server that is spoken to by TLS, and must prove its name.

use std::net::TcpListener;

use toolcrib_core::{CallLedger as _, Effect, Ending};
use toolcrib_store::StoreOptions;

use crate::cluster::{Cluster, command};
use crate::owned::write_call;

/// A certificate of this name, vouched for by nobody but itself.
fn certify(cluster: &Cluster, name: &str) {
    let mut make = command("openssl");
    make.current_dir(cluster.folder()).args(["req", "-x509", "-newkey", "ec", "-nodes"]);
    make.args(["-pkeyopt", "ec_paramgen_curve:prime256v1", "-days", "2", "-subj", "/CN=crib"]);
    make.args(["-addext", &format!("subjectAltName=DNS:{name}")]);
    make.args(["-addext", "basicConstraints=critical,CA:FALSE"]);
    let done = make.args(["-keyout", "key.pem", "-out", "certificate.pem"]).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    cluster.hand_over("key.pem");
    cluster.hand_over("certificate.pem");
}

#[tokio::test]
async fn a_server_that_proves_its_name_is_spoken_to_and_no_other() {
    let mut cluster = Cluster::prepare("tls");
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    certify(&cluster, "localhost");
    cluster.set("listen_addresses=127.0.0.1");
    cluster.set(&format!("port={port}"));
    cluster.use_port(port);
    cluster.run();
    cluster.database("record");
    let roots = cluster.folder().join("certificate.pem").display().to_string();
    let url = |host: &str, words: &str| format!("postgres://crib@{host}:{port}/record?{words}");
    let open = |url: &str| toolcrib_store_postgres::open(url, StoreOptions::default());
    let told = |url: &str| open(url).err().map(|error| error.to_string()).unwrap_or_default();
    // A server without TLS is told from one that is not there.
    let plain = told(&url("localhost", &format!("sslrootcert={roots}")));
    assert!(plain.ends_with(" offers no encryption: turn on `ssl` in its database"), "{plain}");
    cluster.crash();
    for setting in ["ssl=on", "ssl_cert_file=../certificate.pem", "ssl_key_file=../key.pem"] {
        cluster.set(setting);
    }
    cluster.run();
    for words in ["sslmode=verify-full", "sslmode=require", "sslmode=verify-full&connect_timeout=3"]
    {
        let words = format!("{words}&sslrootcert={roots}");
        let store = open(&url("localhost", &words)).unwrap();
        let call = write_call(&store, Effect::Write, &[]).await;
        store.finished(call, Ending::Succeeded).await.unwrap();
        let is_encrypted = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
                            WHERE ssl AND datname = 'record'";
        assert_ne!(cluster.sql("postgres", is_encrypted).unwrap().trim(), "0");
    }
    let unproved = " shows a certificate that does not prove its name: name its host as";
    // Another name than that of the certificate, and an authority that does not vouch for it.
    for (host, words) in
        [("127.0.0.1", format!("sslrootcert={roots}")), ("localhost", "sslmode=require".to_owned())]
    {
        let refused = told(&url(host, &words));
        assert!(refused.contains(unproved), "{host} {words}: {refused}");
    }
}
