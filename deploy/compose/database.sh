#!/bin/sh
# The roles and the empty database, as docs/runbook.md has them under "Set it up". PostgreSQL's image runs this once, when its
# data folder is new. A password is read by psql itself, so that it is on no command line.
set -eu
psql --set ON_ERROR_STOP=1 --quiet --no-psqlrc --username "${POSTGRES_USER:-postgres}" --dbname postgres <<'SQL'
\set migrator `cat /secrets/gainsay_migrator`
\set service `cat /secrets/gainsay_service`
\set sequencing `cat /secrets/gainsay_sequencing`
\set serving `cat /secrets/gainsay_serving`
CREATE ROLE gainsay_owner NOLOGIN;
CREATE ROLE gainsay_writer NOLOGIN;
CREATE ROLE gainsay_sequencer NOLOGIN;
CREATE ROLE gainsay_api NOLOGIN;
CREATE ROLE gainsay_auditor NOLOGIN;
CREATE ROLE gainsay_reader NOLOGIN;
CREATE ROLE gainsay_migrator LOGIN PASSWORD :'migrator' IN ROLE gainsay_owner;
CREATE ROLE gainsay_service LOGIN PASSWORD :'service' IN ROLE gainsay_writer;
CREATE ROLE gainsay_sequencing LOGIN PASSWORD :'sequencing' IN ROLE gainsay_sequencer;
CREATE ROLE gainsay_serving LOGIN PASSWORD :'serving' IN ROLE gainsay_api;
CREATE DATABASE gainsay OWNER gainsay_owner;
\connect gainsay
CREATE SCHEMA gainsay AUTHORIZATION gainsay_owner;
CREATE SCHEMA gainsay_tenant AUTHORIZATION gainsay_owner;
SQL
