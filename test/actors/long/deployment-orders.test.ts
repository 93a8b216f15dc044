// The orders of changes to a Deployment that `npm test` leaves out.

import test from 'ava';
import {testOrders} from '../_rollout-orders.js';

for (let from = 31; from < 301; from += 90) testOrders(test, from, 90);
