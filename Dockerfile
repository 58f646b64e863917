# Each step can be run by hand in a checkout; nothing here is known to Docker alone.

FROM oven/bun:1.4.5 AS build
WORKDIR /build
COPY package.json bun.lock bunfig.toml ./
RUN bun install --frozen-lockfile
COPY . .
# `docker build --build-arg COMMIT=$(git rev-parse HEAD)` has `posthorn version` tell it.
ARG COMMIT
RUN bun scripts/build.ts && mkdir -p /empty

# The C library and certificates, no shell, no package manager.
FROM gcr.io/distroless/base-debian12:nonroot
LABEL org.opencontainers.image.title="Posthorn" \
  org.opencontainers.image.description="Transactional email that you run yourself, as one executable." \
  org.opencontainers.image.licenses="Apache-2.0"
COPY LICENSE THIRD-PARTY-LICENSES.txt /
COPY --from=build /build/dist/posthorn /posthorn
# A volume takes the owner of the folder it is mounted on.
COPY --from=build --chown=65532:65532 /empty /data
USER 65532:65532
ENV DATA_DIR=/data
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=6s --start-period=10s --retries=3 CMD ["/posthorn", "health"]
ENTRYPOINT ["/posthorn"]
CMD ["serve"]
