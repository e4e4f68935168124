/** A Hardhat 3 project; `tandem init` adds the plugin to its copy. */
import { createRequire } from 'node:module'
import hardhatEthers from '@nomicfoundation/hardhat-ethers'
import chaiMatchers from '@nomicfoundation/hardhat-ethers-chai-matchers'
import hardhatMocha from '@nomicfoundation/hardhat-mocha'
import networkHelpers from '@nomicfoundation/hardhat-network-helpers'
import { defineConfig } from 'hardhat/config'

const require = createRequire(import.meta.url)
const { MOCHA_REPORT } = process.env

export default defineConfig({
  plugins: [hardhatEthers, networkHelpers, chaiMatchers, hardhatMocha],
  // The compiler of npm, so that nothing is downloaded.
  solidity: {
    version: require('solc').version().replace(/\+.*/, ''),
    path: require.resolve('solc/soljson.js'),
    settings: { evmVersion: 'cancun', optimizer: { enabled: true, runs: 200 } },
  },
  tandem: { chainId: 4242 },
  // A node of its own process, for scripts/typed.mjs.
  networks: { local: { type: 'http', url: process.env.NODE_URL ?? 'http://127.0.0.1:8545' } },
  test: { mocha: MOCHA_REPORT ? { reporter: 'json', reporterOptions: { output: MOCHA_REPORT } } : {} },
})
