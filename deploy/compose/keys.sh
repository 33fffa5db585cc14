#!/bin/sh
# Makes what is missing of the keys, passwords and files of compose.yaml: sh keys.sh SECRETS CONFIG
# SECRETS has a folder for each reader, a volume of its own. What is there is never changed, so a second start makes nothing.
# A reader's files belong to the user that runs this, and its group may read them: root, and the group of every container.
set -eu
secrets=$1 config=$2
umask 027

# place FILE COMMAND...: the file has what the command prints. It is whole or absent, and never replaced.
place() {
    if [ ! -e "$1" ]; then
        made=$1
        shift
        "$@" > "$made.new"
        [ -s "$made.new" ]
        chmod 0440 "$made.new"
        mv "$made.new" "$made"
    fi
}

drawn() { python -c 'import secrets; print(secrets.token_urlsafe(32))'; }

drawn_bytes() { python -c 'import base64, secrets; print(base64.b64encode(secrets.token_bytes(32)).decode())'; }

address() {
    password=$(cat "$secrets/postgres/$1")
    printf 'postgresql://%s:%s@postgres:5432/gainsay?sslmode=disable\n' "$1" "$password"
}

# login NAME SETTING READER...: a login's password for the database, and the address with it for those who connect.
login() {
    name=$1 setting=$2
    shift 2
    place "$secrets/postgres/$name" drawn
    for reader; do place "$secrets/$reader/$setting" address "$name"; done
}

# shared NAME COMMAND READER...: one secret for several readers, made for the first of them.
shared() {
    name=$1 first=$3
    place "$secrets/$first/$name" "$2"
    shift 3
    for reader; do place "$secrets/$reader/$name" cat "$secrets/$first/$name"; done
}

# key FILE PUBLIC WORDS...: a signing key. What is public of it is taken before its group may read it, because a key of one's
# own that others may read is refused.
key() {
    file=$1 public=$2
    shift 2
    [ -e "$file" ] || gainsay audit key new "$@" --out "$file" > /dev/null
    place "$public" gainsay audit key show "$file"
    chmod 0440 "$file"
}

policy() {
    rm -f "$config/policy.made"
    gainsay policy init --vendor simulated --out "$config/policy.made" > /dev/null
    cat "$config/policy.made"
    printf '\n[[audit.witnesses]]\nurl = "http://witness:8322"\nkey = "%s"\n' "$(cat "$config/witness.vkey")"
    rm "$config/policy.made"
}

place "$secrets/postgres/superuser" drawn
login gainsay_migrator migrate-url migrate
login gainsay_service database-url api worker
login gainsay_serving api-url api
login gainsay_sequencing sequencer-url sequencer

shared signer-token drawn signer sequencer
shared metrics-token drawn prometheus api worker sequencer signer witness
shared admin-password drawn grafana
shared webhook.key drawn_bytes api worker

key "$secrets/signer/log.key" "$config/log.vkey" --name gainsay.localhost
key "$secrets/witness/witness.key" "$config/witness.vkey" --witness --name witness.localhost

place "$config/identity.toml" printf '[keys]\nmost_days = 366\n'
place "$config/policy.toml" policy
