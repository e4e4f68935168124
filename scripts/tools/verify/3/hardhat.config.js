/** A Hardhat 3 project that verifies on the node of `NODE_URL` by one `PROVIDER`; compiled by way of the IR. */
import { createRequire } from 'node:module'
import hardhatVerify from '@nomicfoundation/hardhat-verify'
import { defineConfig } from 'hardhat/config'

const require = createRequire(import.meta.url)
const { NODE_URL: url = 'http://127.0.0.1:4444', PROVIDER: provider } = process.env

// The compiler of npm, so that nothing is downloaded.
const solidity = {
  version: require('solc').version().replace(/\+.*/, ''),
  path: require.resolve('solc/soljson.js'),
  settings: { evmVersion: 'cancun', viaIR: true, optimizer: { enabled: true, runs: 200 } },
}

export default defineConfig({
  plugins: [hardhatVerify],
  // The plugin compiles again in the profile production.
  solidity: { profiles: { default: solidity, production: solidity } },
  networks: { tandem: { type: 'http', url } },
  chainDescriptors: {
    33: {
      name: 'tandem',
      blockExplorers: {
        etherscan: { name: 'Tandem', url, apiUrl: `${url}/v2/api` },
        blockscout: { name: 'Tandem', url, apiUrl: `${url}/api` },
      },
    },
  },
  verify: {
    etherscan: { enabled: provider === 'etherscan', apiKey: 'any' },
    blockscout: { enabled: provider === 'blockscout' },
    sourcify: { enabled: provider === 'sourcify', apiUrl: url },
  },
})
