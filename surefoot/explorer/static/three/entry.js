// What the page uses of three.js 0.187. three.min.js is made of this file, after `npm install three@0.187 esbuild`, by
// npx esbuild entry.js --bundle --minify --format=esm --legal-comments=inline --outfile=three.min.js
export { BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, Color, CylinderGeometry, 
DirectionalLight, Float32BufferAttribute, Fog, Group, HemisphereLight, LineBasicMaterial, LineSegments, 
Matrix4, Mesh, MeshBasicMaterial, MeshLambertMaterial, PerspectiveCamera, Quaternion, Raycaster, 
SRGBColorSpace, Scene, SphereGeometry, Vector2, WebGLRenderer } from "three";
export { OrbitControls } from "three/addons/controls/OrbitControls.js";
