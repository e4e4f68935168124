// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Counter} from "../src/Counter.sol";
import {vm} from "../src/Vm.sol";

contract Deploy {
    function run() external returns (Counter counter) {
        vm.startBroadcast(vm.envUint("KEY"));
        counter = new Counter(1);
        counter.increase{value: 7}(41);
        new Counter{salt: bytes32(uint256(1))}(2);
        vm.stopBroadcast();
        require(counter.value() == 42, "value");
    }
}
