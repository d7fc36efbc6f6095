import { describeGateways } from './gateway-promises.ts';
import { HIVE_GATEWAYS } from './test-gateways.ts';

/** Through Hive Gateway. */

describeGateways(HIVE_GATEWAYS);
