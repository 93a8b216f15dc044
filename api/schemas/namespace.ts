// The schema of a Namespace.

import type {Static} from 'typebox';
import type {Condition} from '../object.js';
import type {NamespaceSpec, NamespaceStatus} from '../shapes/namespace.js';
import {objectWithOptional} from './metadata.js';
import {about, list, oneOf, optional, record, shared, text, type Same} from './parts.js';

const namespaceSpec = () => record({finalizers: optional(about('What must be done before it goes.', list(text())))});

export const namespaceStatus = () =>
	record({
		phase: about('Active or Terminating.', oneOf(['Active', 'Terminating'])),
		conditions: optional(about('What is left in it.', list(shared<Condition>('Condition')))),
	});

export const namespace = () => objectWithOptional(about('What must be done before it goes.', namespaceSpec()));

export const specSaysTheSame: Same<Static<ReturnType<typeof namespaceSpec>>, NamespaceSpec> = true;
export const statusSaysTheSame: Same<Static<ReturnType<typeof namespaceStatus>>, NamespaceStatus> = true;
