import './tokens.css';
import './app.css';
import { mount } from 'svelte';
import App from './App.svelte';
import { begin } from './lib/session.svelte';

mount(App, { target: document.getElementById('app')! });
void begin();
