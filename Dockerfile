# The command line and both servers, for a CI or an agent: docker run --rm -v "$PWD:/work" fencepost check .
FROM rust:1-slim-bookworm AS build
# jemalloc is C.
# The release of Debian pins versions.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc libc6-dev make \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /fencepost
COPY . .
# `--build-arg COMMIT="$(git log -1 --abbrev=9 --format='%h %cs')"` has --version name it.
ARG COMMIT=""
RUN FENCEPOST_COMMIT="$COMMIT" cargo build --locked --profile dist --package fencepost --features jemalloc

FROM debian:bookworm-slim
# `check --changed-since` asks git.
# The release of Debian pins versions.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git \
    && rm -rf /var/lib/apt/lists/* \
    && git config --system --add safe.directory '*'
COPY --from=build /fencepost/target/dist/fencepost /usr/local/bin/fencepost
WORKDIR /work
ENTRYPOINT ["fencepost"]
CMD ["--help"]
