import { describeGateways } from './gateway-promises.ts';
import { HIVE_GATEWAYS } from './test-gateways.ts';

/** Through Hive Gateway; `test/on-demand/` has Apollo Gateway. */

describeGateways(HIVE_GATEWAYS);
