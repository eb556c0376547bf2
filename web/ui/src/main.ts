import { mount } from 'svelte';
import App from './App.svelte';
import 'uplot/dist/uPlot.min.css';
import './style/base.css';
import './style/parts.css';
import './style/screens.css';

const target = document.getElementById('page');
if (target) mount(App, { target });
