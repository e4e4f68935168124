/** A Tandem node in a container, for Testcontainers. */
import { AbstractStartedContainer, GenericContainer, Wait } from 'testcontainers'

/** The port of the node in its container. */
const PORT = 4444

/** A container with a node, which is in memory and open to this machine unless flags say otherwise. */
export class TandemContainer extends GenericContainer {
  #flags = []

  /** @param {string} image the image that the Dockerfile of Tandem builds */
  constructor(image = 'tandem') {
    super(image)
    this.withExposedPorts(PORT)
    // The image has a health check of its own, which asks the node.
    this.withWaitStrategy(Wait.forHealthCheck())
    this.withStartupTimeout(60_000)
  }

  /** Adds flags of `tandem start`. */
  withFlags(...flags) {
    this.#flags.push(...flags)
    return this
  }

  /** Whose behaviour the defaults follow: `rsk`, `hardhat` or `anvil`. */
  withPreset(preset) {
    return this.withFlags('--preset', preset)
  }

  /** The seed of keys and ids. */
  withSeed(seed) {
    return this.withFlags('--seed', seed)
  }

  /** Well-known contracts that the chain begins with. */
  withPredeploys(...names) {
    return this.withFlags('--predeploy', names.join(','))
  }

  async start() {
    this.withCommand(['start', '--memory', '--unsafe-open', ...this.#flags])
    return new StartedTandemContainer(await super.start())
  }
}

/** A container whose node is ready. */
export class StartedTandemContainer extends AbstractStartedContainer {
  #address() {
    return `${this.getHost()}:${this.getMappedPort(PORT)}`
  }

  /** Where the node answers over HTTP. */
  getRpcUrl() {
    return `http://${this.#address()}`
  }

  /** Where it answers over WebSocket. */
  getWsUrl() {
    return `ws://${this.#address()}`
  }
}
