# Tandem in a container. What a node needs is built in one stage; the next holds only that.
#
#   docker build --tag tandem .
#   docker run --publish 127.0.0.1:4444:4444 --volume tandem:/data tandem start --unsafe-open
#
# A port of a container is reached from outside it, so the node listens on all of its addresses. Without keys that lets
# in whoever reaches the port, and the node does not start without --unsafe-open: give it where the port is
# published to this machine only, as above, or give it a key file (--profile hosted --api-keys /keys/keys.json).
#
# For amd64 and arm64, and with the same bytes for the same commit and base image (timestamps are those of the commit):
#
#   docker buildx build --platform linux/amd64,linux/arm64 --build-arg SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) \
#     --output type=image,name=tandem,rewrite-timestamp=true .

# Runs on the machine that builds, whatever the image is for: its output has the native parts for all platforms.
FROM --platform=$BUILDPLATFORM node:20-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# No dependency needs its install script; native parts come as prebuilt files.
RUN npm ci --ignore-scripts
COPY tsconfig.json rolldown.config.ts ./
COPY scripts/bundle.mjs scripts/bundle.mjs
COPY src src
RUN npm run bundle && npm prune --omit=dev --ignore-scripts
# Native parts for other systems than the image's.
RUN rm -rf node_modules/*/prebuilds/android-* node_modules/*/prebuilds/darwin-* node_modules/*/prebuilds/win32-*

FROM node:20-slim
WORKDIR /app
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
COPY genesis genesis
# The documents that the node serves, and the sources of the contracts that --predeploy names.
COPY docs docs
COPY packages/tandem-predeploys packages/tandem-predeploys
COPY scripts/healthcheck.mjs scripts/healthcheck.mjs
COPY package.json LICENSE README.md ./
# The chain lies in a volume that belongs to the user who runs the node, and so does the place for a volume of keys.
# Launchers of Anvil look for it on the PATH.
RUN chmod +x dist/cli/anvil.js && ln -s /app/dist/cli/anvil.js /usr/local/bin/anvil
RUN mkdir /data /keys && chown node:node /data /keys
ENV NODE_ENV=production \
    TANDEM_HOST=0.0.0.0 \
    TANDEM_PORT=4444 \
    TANDEM_DATA_DIR=/data
USER node
VOLUME /data
EXPOSE 4444
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s CMD ["node", "/app/scripts/healthcheck.mjs"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "/app/dist/cli/main.js"]
CMD ["start"]
