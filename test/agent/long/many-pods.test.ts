import test from 'ava';
import {testManyPods} from '../_many-pods.js';

testManyPods(test, 200);
