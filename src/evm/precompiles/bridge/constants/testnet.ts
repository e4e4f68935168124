/** The public test network. */
import { TEST_VERSIONS } from '../../../../bitcoin/address.ts'
import { BRIDGE_SENDERS } from '../../../../chain/bridge-senders.ts'
import { type BridgeNetwork, FORMAT } from './network.ts'

export const TESTNET: BridgeNetwork = {
  chain: 'testnet',
  parent: { name: 'testnet', addresses: TEST_VERSIONS },
  senders: BRIDGE_SENDERS.testnet,
  genesisFederation: {
    keys: [
      '02afc230c2d355b1a577682b07bc2646041b5d0177af0f98395a46018da699b6da',
      '0344a3c38cd59afcba3edcebe143e025574594b001700dec41e59409bdbd0f2a09',
      '034844a99cd7028aa319476674cc381df006628be71bc5593b8b5fdb32bb42ef85',
      '039a060badbeb24bee49eb2063f616c0f0f0765d4ca646b20a88ce828f259fcdb9',
    ],
    creationTime: 1_538_967_600,
    format: FORMAT.standard,
  },
  emergencyKeys: [
    '0216c23b2ea8e4f11c3f9e22711addb1d16a93964796913830856b568cc3ea21d3',
    '0275562901dd8faae20de0a4166362a4f82188db77dbed4ca887422ea1ec185f14',
    '034db69f2112f4fb1bb6141bf6e2bd6631f0484d0bd95b16767902c9fe219d4a6f',
  ],
  emergencyDelay: 52_560,
  oldFederationAddress: '2N7ZgQyhFKm17RbaLqygYbS7KLrQfapyZzu',
  activationAge: (isActive) => (!isActive('rskip383') ? 60 : isActive('rskip419') ? 2400 : 120),
  migrationBegin: 60,
  migrationEnd: () => 900,
  validationPeriod: 2000,
  peginConfirmations: 10,
  pegoutConfirmations: 10,
  minimumPegout: 250_000n,
  earlyMinimumPegout: 500_000n,
  pegoutGapPercent: 80n,
  maxMigrationInputs: 50,
  blocksBetweenPegouts: 360,
  feePerKb: 100_000n,
  lockingCap: 20_000_000_000n,
  heightIndexStart: 2_039_594,
  searchDepth: 4320,
  pegoutIndexHeight: 2_589_553 + 1440,
  tooMuchWorkHeight: Number.POSITIVE_INFINITY,
}
