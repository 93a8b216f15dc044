// The schema of a Namespace.

import type {Static} from 'typebox';
import type {Condition} from '../object.js';
import type {NamespaceSpec, NamespaceStatus} from '../shapes/namespace.js';
import {objectWithOptional} from './metadata.js';
import {list, oneOf, optional, record, shared, text, type Same} from './parts.js';

const namespaceSpec = () => record({finalizers: optional(list(text()))});

export const namespaceStatus = () =>
	record({phase: oneOf(['Active', 'Terminating']), conditions: optional(list(shared<Condition>('Condition')))});

export const namespace = () => objectWithOptional(namespaceSpec());

export const specSaysTheSame: Same<Static<ReturnType<typeof namespaceSpec>>, NamespaceSpec> = true;
export const statusSaysTheSame: Same<Static<ReturnType<typeof namespaceStatus>>, NamespaceStatus> = true;
