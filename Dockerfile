# The image of a release: goreleaser puts the binaries of all platforms here.
FROM scratch
ARG TARGETPLATFORM
COPY $TARGETPLATFORM/schedlint /usr/bin/schedlint
USER 65532:65532
WORKDIR /work
ENTRYPOINT ["/usr/bin/schedlint"]
